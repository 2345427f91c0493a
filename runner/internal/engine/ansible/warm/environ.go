package warm

import (
	"maps"
	"slices"
	"strings"
)

// environ maps names of variables to their values.
type environ map[string]string

func parseEnviron(entries []string) environ {
	env := make(environ, len(entries))
	for _, entry := range entries {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			env[name] = value
		}
	}
	return env
}

// entries returns NAME=value entries in the order of their names.
func (env environ) entries() []string {
	entries := make([]string, 0, len(env))
	for name, value := range env {
		entries = append(entries, name+"="+value)
	}
	slices.Sort(entries)
	return entries
}

// What stands for whole families of names ends in "*".
var (
	// perRun are names that may differ between the runs of one zygote. Each run gets its own values, which take effect.
	perRun = []string{
		"CHARTBOOK_*", "KUBECONFIG", "K8S_AUTH_*", "TMPDIR", "PWD",
		"ANSIBLE_LOCAL_TEMP", "ANSIBLE_REMOTE_TMP", "ANSIBLE_ASYNC_DIR",
	}
	// early are names that Python, its libraries or the C library look at when a process starts, unseen by the zygote.
	early = []string{
		"LANG", "LANGUAGE", "LC_*", "PYTHON*", "LD_*", "TZ", "TZDIR", "MALLOC_*", "GLIBC_*", "OPENSSL_*", "SSL_*", "HOME",
		"USER", "LOGNAME",
	}
)

// everything stands among the names that a zygote has consulted for the whole environment.
const everything = "*"

func isOneOf(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		prefix, family := strings.CutSuffix(pattern, "*")
		return name == pattern || family && strings.HasPrefix(name, prefix)
	})
}

// shared returns the part of the environment that is not per run.
func (env environ) shared() environ {
	rest := maps.Clone(env)
	maps.DeleteFunc(rest, func(name, _ string) bool { return isOneOf(name, perRun) })
	return rest
}

// like reports whether two environments without what is per run are the same to a zygote that has consulted these names.
func (env environ) like(other environ, consulted []string) bool {
	if slices.Contains(consulted, everything) {
		return maps.Equal(env, other)
	}
	same := func(name string) bool {
		value, set := env[name]
		otherValue, otherSet := other[name]
		return set == otherSet && value == otherValue
	}
	for _, list := range []environ{env, other} {
		for name := range list {
			if isOneOf(name, early) && !same(name) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(consulted, func(name string) bool { return !isOneOf(name, perRun) && !same(name) })
}
