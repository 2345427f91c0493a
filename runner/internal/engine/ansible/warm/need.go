package warm

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// need is what a run asks of a zygote.
type need struct {
	program, python string
	env             environ // without what is per run
	preload         []string
	without         bool // collections must not be imported ahead, since others of their names would come first
}

func needOf(r Request) (need, error) {
	if !fits(r.Mark) {
		return need{}, &UnavailableError{LongID, fmt.Errorf("%s is longer than %d bytes", r.Mark, maxMark)}
	}
	python, err := interpreter(r.Program)
	if err != nil {
		return need{}, &UnavailableError{Interpreter, err}
	}
	n := need{program: r.Program, python: python, env: parseEnviron(r.Env).shared(), preload: slices.Clone(r.Preload)}
	slices.Sort(n.preload)
	n.without = slices.ContainsFunc(n.preload, func(collection string) bool {
		namespace, _, _ := strings.Cut(collection, ".")
		return slices.Contains(r.Adjacent, namespace)
	})
	return n, nil
}

// key tells needs apart that may not be served by one zygote as far as is known before it has started.
func (n need) key() string {
	hash := sha256.New()
	_, _ = fmt.Fprintf(hash, "%q %q %t %q", n.program, n.python, n.without, n.preload)
	for _, name := range slices.Sorted(maps.Keys(n.env)) {
		_, _ = fmt.Fprintf(hash, "%q=%q", name, n.env[name])
	}
	return string(hash.Sum(nil))
}

// servedBy reports whether a zygote that was started for another need can serve this one, given the names that it has consulted.
func (n need) servedBy(other need, consulted []string) bool {
	return n.program == other.program && n.python == other.python && n.without == other.without &&
		(n.without || containsAll(other.preload, n.preload)) && n.env.like(other.env, consulted)
}

func containsAll(list, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(item string) bool { return !slices.Contains(list, item) })
}
