package warm

import (
	"slices"
)

// modulePaths are the ways that the execution of a module can take: forked, or as a process of its own for one of the other
// reasons. It is the list of counters.py.
var modulePaths = []string{
	"forked", "connection", "become", "async", "keep_remote_files", "not_found", "not_python", "old_style", "interpreter",
	"interpreter_arguments", "discovery", "executable", "debugger", "file_limit", "module_utils", "environment", "respawn",
	"profile", "overridden", "arguments", "no_payload", "disabled", "fault",
}

// ModulePaths returns the closed list.
func ModulePaths() []string { return slices.Clone(modulePaths) }

// knownPaths returns counts with what is not in the list left out: content runs in the process that says it.
func knownPaths(counts map[string]int) map[string]int {
	known := map[string]int{}
	for path, count := range counts {
		if count > 0 && slices.Contains(modulePaths, path) {
			known[path] = count
		}
	}
	return known
}
