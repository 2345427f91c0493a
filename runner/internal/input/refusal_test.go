package input

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// The path of what nests endlessly filled status, events and log.
func TestPathsOfRefusalsAreShort(t *testing.T) {
	for _, key := range []string{"k", "größe", strings.Repeat("x", 100)} {
		r := refuse(ReasonTooDeep, "too deep").under("last")
		for range 500 {
			r = r.under(shown(key))
		}
		r = r.under("spec")
		if len(r.Path) > 300 || !utf8.ValidString(r.Path) || !strings.HasPrefix(r.Path, "spec.") || !strings.HasSuffix(r.Path, ".last") {
			t.Errorf("the path is %q", r.Path)
		}
	}
	r := refuse(ReasonEmptyKey, "x")
	for i := range 20 {
		r = r.under(fmt.Sprintf("key%d", i))
	}
	if strings.Contains(r.Path, "...") {
		t.Errorf("a path of ordinary length is cut: %s", r.Path)
	}
}
