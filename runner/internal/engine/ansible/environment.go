package ansible

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// environment maps names to values.
type environment map[string]string

// newEnvironment reads NAME=value entries; of several for one name the last counts. Relative paths become absolute.
func newEnvironment(entries []string) environment {
	env := environment{}
	for _, entry := range entries {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			env[name] = value
		}
	}
	env.absolutePaths()
	return env
}

// entries returns NAME=value entries in the order of their names.
func (env environment) entries() []string {
	entries := make([]string, 0, len(env))
	for name, value := range env {
		entries = append(entries, name+"="+value)
	}
	slices.Sort(entries)
	return entries
}

const (
	// eventsVariable names to the callback plugin the descriptor to write to.
	eventsVariable = "CHARTBOOK_EVENTS_FD"
	// eventsDescriptor is the first descriptor after the standard ones.
	eventsDescriptor = "3"
	// runVariable holds the run's id, for plays and to find the run's processes.
	runVariable = "CHARTBOOK_RUN"
)

// playEnvironment returns the environment of one run: what the operator and the job have, plus what the engine needs.
func (e *Engine) playEnvironment(job engine.Job, base environment, content Content, dir *runDir) environment {
	env := maps.Clone(base)
	settings := readSettings(base)

	env["ANSIBLE_CALLBACK_PLUGINS"] = joinPaths(settings.callbackPlugins(), e.cfg.Workspace.callbackDir())
	e.setContentPaths(env, settings, content)

	env["ANSIBLE_RETRY_FILES_ENABLED"] = "False"
	if _, set := env["ANSIBLE_HOST_KEY_CHECKING"]; !set {
		env["ANSIBLE_HOST_KEY_CHECKING"] = "False"
	}
	env["ANSIBLE_CACHE_PLUGIN"] = "memory" // facts of one resource are none of another's business

	env["ANSIBLE_LOCAL_TEMP"] = dir.temp()
	if env["ANSIBLE_REMOTE_TMP"] == "" && settings.file["remote_tmp"] == "" {
		env["ANSIBLE_REMOTE_TMP"] = dir.temp()
	}
	if env["ANSIBLE_ASYNC_DIR"] == "" && unix.Access(env["HOME"], unix.W_OK) != nil {
		env["ANSIBLE_ASYNC_DIR"] = e.cfg.Workspace.asyncDir()
	}
	if dir.hasKubeconfig {
		env["K8S_AUTH_KUBECONFIG"] = dir.kubeconfig()
		env["KUBECONFIG"] = dir.kubeconfig()
	}
	// Of the clients' discovery caches one is enough for all runs. This is no directory of the run: daemons that a task
	// detaches go on using it, and it is short enough for the path of a socket.
	env["TMPDIR"] = cmp.Or(job.Env["TMPDIR"], e.cfg.Workspace.tempDir())
	reachLoopback(env)
	return env
}

// setContentPaths sets where roles and collections are looked for. The bundled collection comes last, so that one
// of the image wins.
func (e *Engine) setContentPaths(env environment, settings settings, content Content) {
	collections := cmp.Or(e.cfg.CollectionsPath, settings.collections())
	if e.cfg.RolesPath != "" {
		env["ANSIBLE_ROLES_PATH"] = e.cfg.RolesPath
	}
	if content.isRole() {
		_, rolesDir, collectionsDir := content.role()
		env["ANSIBLE_ROLES_PATH"] = joinPaths(rolesDir, cmp.Or(e.cfg.RolesPath, settings.roles()))
		collections = joinPaths(collectionsDir, collections)
	}
	delete(env, "ANSIBLE_COLLECTIONS_PATHS") // the old name; what it said is part of collections
	env["ANSIBLE_COLLECTIONS_PATH"] = joinPaths(collections, e.cfg.Workspace.collectionsDir())
}

// joinPaths joins path lists, empty ones left out.
func joinPaths(lists ...string) string {
	lists = slices.DeleteFunc(lists, func(list string) bool { return list == "" })
	return strings.Join(lists, string(filepath.ListSeparator))
}

// reachLoopback keeps clients from asking a proxy server for the API endpoint of this process. Some of them read the
// variable in capitals, some the other one, and most the other one first.
func reachLoopback(env environment) {
	if !hasProxy(env) {
		return
	}
	names := slices.DeleteFunc([]string{"NO_PROXY", "no_proxy"}, func(name string) bool { return env[name] == "" })
	if len(names) == 0 {
		names = []string{"NO_PROXY"}
	}
	for _, name := range names {
		env[name] = withLoopback(env[name])
	}
}

func hasProxy(env environment) bool {
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"} {
		if env[name] != "" || env[strings.ToLower(name)] != "" {
			return true
		}
	}
	return false
}

// withLoopback adds this machine to a list of hosts.
func withLoopback(list string) string {
	hosts := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	if slices.Contains(hosts, "*") {
		return list
	}
	for _, host := range []string{"127.0.0.1", "localhost"} {
		if !slices.Contains(hosts, host) {
			list = strings.TrimPrefix(list+","+host, ",")
		}
	}
	return list
}
