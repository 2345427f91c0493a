package ansible

import (
	"path/filepath"
	"strings"
)

// pathVariables are variables whose value is a path or a list of paths, beside those of plugins. ANSIBLE_INVENTORY, which
// may be a list of hosts, is read elsewhere.
var pathVariables = map[string]bool{
	"TMPDIR": true, "VIRTUAL_ENV": true,
	"ANSIBLE_CONFIG": true, "ANSIBLE_HOME": true, "ANSIBLE_LIBRARY": true, "ANSIBLE_MODULE_UTILS": true,
	"ANSIBLE_ROLES_PATH": true, "ANSIBLE_COLLECTIONS_PATH": true, "ANSIBLE_COLLECTIONS_PATHS": true,
	"ANSIBLE_VAULT_PASSWORD_FILE": true, "ANSIBLE_LOG_PATH": true, "ANSIBLE_REMOTE_TMP": true, "ANSIBLE_ASYNC_DIR": true,
	"ANSIBLE_PRIVATE_KEY_FILE": true, "ANSIBLE_BECOME_PASSWORD_FILE": true, "ANSIBLE_CONNECTION_PASSWORD_FILE": true,
}

// isPathVariable reports whether a variable holds paths; those of plugins do, like ANSIBLE_FILTER_PLUGINS.
func isPathVariable(name string) bool {
	return pathVariables[name] || strings.HasPrefix(name, "ANSIBLE_") && strings.HasSuffix(name, "_PLUGINS")
}

// absolutePaths makes relative paths of the environment absolute: they start from the operator's working directory, and a
// run has another one.
func (env environment) absolutePaths() {
	for name, value := range env {
		if isPathVariable(name) {
			env[name] = absoluteList(value)
		}
	}
}

// absoluteList makes the relative paths of a list absolute. Those that begin with a home directory, a variable or a macro
// are left to Ansible.
func absoluteList(list string) string {
	paths := filepath.SplitList(list)
	for i, path := range paths {
		if path == "" || strings.ContainsRune("/~${", rune(path[0])) {
			continue
		}
		if absolute, err := filepath.Abs(path); err == nil {
			paths[i] = absolute
		}
	}
	return strings.Join(paths, string(filepath.ListSeparator))
}
