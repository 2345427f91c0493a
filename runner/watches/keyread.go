package watches

import (
	"time"

	"gopkg.in/yaml.v3"
)

// readText reads text into a place of the watch.
func readText(place func(*Watch) *string) func(*entry, *yaml.Node, string) {
	return func(e *entry, n *yaml.Node, key string) {
		if value, ok := e.textValue(n, key); ok {
			*place(&e.watch) = value
		}
	}
}

// readBool reads a boolean into a place of the watch.
func readBool(place func(*Watch) *bool) func(*entry, *yaml.Node, string) {
	return func(e *entry, n *yaml.Node, key string) {
		if value, ok := e.boolValue(n, key); ok {
			*place(&e.watch) = value
		}
	}
}

func notYet(e *entry, n *yaml.Node, key string) {
	e.failf(n, key, "remove the key until it is", "%s is not supported yet", key)
}

func readReconcilePeriod(e *entry, n *yaml.Node, key string) {
	value, ok := e.durationValue(n, key)
	if !ok {
		return
	}
	if value < 0 {
		e.warnf(n, key, "write 0s for no periodic run", "%s is negative and taken for 0s", key)
		value = 0
	}
	e.watch.ReconcilePeriod = &value
}

// readPeriod reads a duration that is not negative into a place of the watch. none says how to write that there is none.
func readPeriod(none string, place func(*Watch) **time.Duration) func(*entry, *yaml.Node, string) {
	return func(e *entry, n *yaml.Node, key string) {
		value, ok := e.durationValue(n, key)
		switch {
		case !ok:
		case value < 0:
			e.failf(n, key, none, "%s must not be negative", key)
		default:
			*place(&e.watch) = &value
		}
	}
}

func readConcurrency(e *entry, n *yaml.Node, key string) {
	if value, ok := e.intValue(n, key); ok && value < 0 {
		e.failf(n, key, "remove the key for the default", "%s must not be negative", key)
	} else if ok {
		e.watch.MaxConcurrentReconciles = value
	}
}

func readHistory(e *entry, n *yaml.Node, key string) {
	if value, ok := e.intValue(n, key); ok && value < 0 {
		e.failf(n, key, "write 0 to keep all revisions", "%s must not be negative", key)
	} else if ok {
		e.watch.MaxHistory = value
	}
}

func readArtifacts(e *entry, n *yaml.Node, key string) {
	if value, ok := e.intValue(n, key); ok && value != 0 {
		e.watch.MaxRunnerArtifacts = value
	}
}

func readVars(e *entry, n *yaml.Node, key string) {
	e.watch.Vars = e.variables(n, key)
}

func readExecutor(e *entry, n *yaml.Node, key string) {
	value, ok := e.textValue(n, key)
	switch executor := Executor(value); executor {
	case "":
	case ExecutorWarm, ExecutorDirect, ExecutorRunner:
		e.watch.Executor = executor
	case "job":
		e.failf(n, key, "write warm, direct or runner, or remove the key", "%s: %s is not supported yet", key, value)
	default:
		if ok {
			e.failf(n, key, "write warm, direct or runner", "%s: there is no executor %q", key, value)
		}
	}
}
