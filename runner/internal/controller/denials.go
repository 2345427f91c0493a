package controller

import (
	"fmt"
	"strings"
	"sync"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// maxDenialsTold bounds the memory of what has been told.
const maxDenialsTold = 1000

// denialLog remembers which refusals of the API server are in the log already: each missing rule is told once.
type denialLog struct {
	mu   sync.Mutex
	told map[string]bool
}

// fresh returns those of denials that were not told before.
func (l *denialLog) fresh(denials []engine.Denial) []engine.Denial {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told == nil || len(l.told) > maxDenialsTold {
		l.told = map[string]bool{}
	}
	var fresh []engine.Denial
	for _, d := range denials {
		key := strings.Join([]string{d.Verb, d.Group, d.Resource, d.Namespace}, " ")
		if !l.told[key] {
			l.told[key] = true
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
