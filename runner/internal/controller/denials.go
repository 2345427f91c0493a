package controller

import (
	"fmt"
	"strings"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/once"
)

// denialLog remembers which refusals of the API server are in the log already: each missing rule is told once.
type denialLog struct{ told once.Texts }

// fresh returns those of denials that were not told before.
func (l *denialLog) fresh(denials []engine.Denial) []engine.Denial {
	var fresh []engine.Denial
	for _, d := range denials {
		if l.told.First(strings.Join([]string{d.Verb, d.Group, d.Resource, d.Namespace}, " ")) {
			fresh = append(fresh, d)
		}
	}
	return fresh
}

// missingRule says which right would have let the request through.
func missingRule(d engine.Denial) string {
	group := d.Group
	if group == "" {
		group = "core"
	}
	where := "in the whole cluster"
	if d.Namespace != "" {
		where = "in namespace " + d.Namespace
	}
	return fmt.Sprintf("the operator may not %s %s (API group %s) %s", d.Verb, d.Resource, group, where)
}
