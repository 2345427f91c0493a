package watches

import (
	"io"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
)

// resolveContent makes sure that the watch runs one thing, and finds it.
func (e *entry) resolveContent() {
	w := &e.watch
	if !e.chooseContent() {
		return
	}
	switch {
	case w.Playbook != "":
		w.Playbook = e.playbook(e.at("playbook"), "playbook", w.Playbook)
	case w.Role != "":
		w.Role, w.RoleName = e.role(e.at("role"), "role", w.Role)
	default:
		w.Chart = e.chart(e.at("chart"), "chart", w.Chart)
		if _, ok := e.set["watchClusterScopedResources"]; !ok {
			w.WatchClusterScopedResources = true
		}
	}
}

// chooseContent reports whether a watch has one thing to run. A playbook wins over a role, as it always did.
func (e *entry) chooseContent() bool {
	w := &e.watch
	forAnsible := w.Playbook != "" || w.Role != ""
	switch {
	case forAnsible && w.Chart != "":
		e.failf(e.at("chart"), "chart", "make it two watches of different kinds, or remove one", "a watch cannot have a chart beside a playbook or role")
		return false
	case w.Playbook != "" && w.Role != "":
		e.warnf(e.at("role"), "role", "remove the role", "the role is not used, since the playbook beside it wins")
		w.Role = ""
	case !forAnsible && w.Chart == "":
		if e.readable("playbook", "role", "chart") {
			e.failf(e.node, "", "add one of them", "the watch has no playbook, role or chart")
		}
		return false
	}
	return true
}

// readable reports whether none of the keys holds a list or mapping, about which there is a report already.
func (e *entry) readable(keys ...string) bool {
	for _, key := range keys {
		if n := e.set[key]; n != nil && follow(n).Kind != yaml.ScalarNode {
			return false
		}
	}
	return true
}

// absolute makes a path absolute that is relative to the working directory.
func (d *decoder) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(d.options.Dir, path)
}

// playbook returns the absolute path of a playbook and checks that it is there.
func (d *decoder) playbook(n *yaml.Node, key, value string) string {
	path := d.absolute(value)
	info, err := d.options.Stat(path)
	switch {
	case err != nil:
		d.notFound(n, key, value, []string{path}, err)
	case info.IsDir():
		d.failf(n, key, "name the playbook's file", "%s %s is a directory", key, path)
	}
	return path
}

// chart returns the absolute path of a chart's directory or archive and checks that it looks like one.
func (d *decoder) chart(n *yaml.Node, key, value string) string {
	if strings.HasPrefix(value, registryScheme) {
		d.checkChartReference(n, key, value)
		return value
	}
	path := d.absolute(value)
	info, err := d.options.Stat(path)
	switch {
	case err != nil:
		d.notFound(n, key, value, []string{path}, err)
	case info.IsDir():
		d.checkChartDirectory(n, key, path)
	case !strings.HasSuffix(path, ".tgz") && !strings.HasSuffix(path, ".tar.gz"):
		d.failf(n, key, "name a directory or a .tgz archive", "%s %s is no chart", key, path)
	}
	return path
}

// checkChartDirectory checks that a directory has a Chart.yaml that names the chart.
func (d *decoder) checkChartDirectory(n *yaml.Node, key, path string) {
	file := filepath.Join(path, "Chart.yaml")
	data, err := d.readFile(file)
	if err != nil {
		d.notFound(n, key, value(n), []string{file}, err)
		return
	}
	var chart struct {
		Name string `yaml:"name"`
	}
	if err := yaml.Unmarshal(data, &chart); err != nil {
		d.failf(n, key, "", "%s %s: Chart.yaml: %s", key, path, strings.TrimPrefix(err.Error(), "yaml: "))
	} else if chart.Name == "" {
		d.failf(n, key, "", "%s %s: Chart.yaml has no name", key, path)
	}
}

// value returns how a scalar is written.
func value(n *yaml.Node) string { return follow(n).Value }

// readFile reads a small file.
func (d *decoder) readFile(path string) ([]byte, error) {
	file, err := d.options.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile))
}

// notFound reports a file that is missing or cannot be read, with the places where it was looked for.
func (d *decoder) notFound(n *yaml.Node, key, value string, places []string, err error) {
	if err != nil && !missing(err) {
		d.failf(n, key, "", "%s %q cannot be read: %v", key, value, err)
		return
	}
	hint := ""
	if !filepath.IsAbs(value) {
		hint = "paths are relative to the operator's working directory"
	}
	d.failf(n, key, hint,
		"%s %q was not found; looked at %s", key, value, strings.Join(places, ", "))
}
