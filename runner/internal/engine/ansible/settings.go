package ansible

import (
	"bufio"
	"cmp"
	"os"
	"os/user"
	"path/filepath"
	"strings"
)

// settings are those of Ansible's settings that the engine has to add to and therefore to know. A variable in the
// environment replaces what the configuration file says, so adding to a list means to say all of it again.
type settings struct {
	env  environment
	file map[string]string // the section [defaults] of the configuration file in use
	dir  string            // of that file; relative paths in it begin there
}

// readSettings finds the configuration file as ansible-core does, but for one in the working directory: runs begin
// in a directory of their own, where none is.
func readSettings(env environment) settings {
	candidates := []string{env["ANSIBLE_CONFIG"], filepath.Join(home(env), ".ansible.cfg"), "/etc/ansible/ansible.cfg"}
	for _, path := range candidates {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, "ansible.cfg")
		}
		if text, err := os.ReadFile(path); err == nil {
			return settings{env: env, file: parseDefaults(string(text)), dir: filepath.Dir(path)}
		}
	}
	return settings{env: env}
}

// callbackPlugins, roles and collections return path lists: that of the environment, else that of the file, else
// Ansible's default.
func (s settings) callbackPlugins() string {
	return cmp.Or(s.env["ANSIBLE_CALLBACK_PLUGINS"], s.paths("callback_plugins"),
		s.ansibleHome("plugins/callback")+":/usr/share/ansible/plugins/callback")
}

func (s settings) roles() string {
	return cmp.Or(s.env["ANSIBLE_ROLES_PATH"], s.paths("roles_path"),
		s.ansibleHome("roles")+":/usr/share/ansible/roles:/etc/ansible/roles")
}

func (s settings) collections() string {
	return cmp.Or(s.env["ANSIBLE_COLLECTIONS_PATH"], s.env["ANSIBLE_COLLECTIONS_PATHS"],
		s.paths("collections_path"), s.paths("collections_paths"),
		s.ansibleHome("collections")+":/usr/share/ansible/collections")
}

// ansibleHome returns a path below the directory where Ansible keeps what is the user's.
func (s settings) ansibleHome(below string) string {
	return filepath.Join(cmp.Or(s.env["ANSIBLE_HOME"], s.paths("home"), filepath.Join(home(s.env), ".ansible")), below)
}

// paths returns a path list of the file with relative paths made absolute. Those that begin with a home directory,
// a variable or a macro are left to Ansible.
func (s settings) paths(key string) string {
	list := filepath.SplitList(s.file[key])
	for i, path := range list {
		path = strings.TrimSpace(path)
		if path != "" && !strings.ContainsRune("/~${", rune(path[0])) {
			path = filepath.Join(s.dir, path)
		}
		list[i] = path
	}
	return joinPaths(list...)
}

// parseDefaults returns the keys of the section [defaults]. Where the file is not well-formed, Ansible itself will
// say so.
func parseDefaults(text string) map[string]string {
	values := map[string]string{}
	section, key := "", ""
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := stripComment(lines.Text())
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
		case strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]"):
			section, key = strings.Trim(trimmed, "[]"), ""
		case section != "defaults":
		case line[0] == ' ' || line[0] == '\t': // continues the value before
			if key != "" {
				values[key] += trimmed
			}
		default:
			if i := strings.IndexAny(trimmed, "=:"); i > 0 {
				key = strings.ToLower(strings.TrimSpace(trimmed[:i]))
				values[key] = unquote(strings.TrimSpace(trimmed[i+1:]))
			}
		}
	}
	return values
}

// stripComment cuts off a whole line that begins with # or ;, and a rest that begins with a blank and a semicolon.
func stripComment(line string) string {
	if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";") {
		return ""
	}
	for _, mark := range []string{" ;", "\t;"} {
		line, _, _ = strings.Cut(line, mark)
	}
	return line
}

func unquote(value string) string {
	if n := len(value); n >= 2 && value[0] == value[n-1] && (value[0] == '"' || value[0] == '\'') {
		return value[1 : n-1]
	}
	return value
}

// home returns the user's home directory: that of the environment, else the one that the system knows.
func home(env environment) string {
	if dir := env["HOME"]; dir != "" {
		return dir
	}
	if account, err := user.Current(); err == nil {
		return account.HomeDir
	}
	return "/"
}
