package differential

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"
)

// project is a playbook project: the files of an archive in testdata/cases. The file case.yml, which may be missing,
// says how it is run.
type project struct {
	name   string
	proves string // the comment of the archive
	files  []file
	how
}

type file = txtar.File

// how is the content of case.yml. In the strings, {content}, {home} and {remote} stand for directories, {python} for the
// interpreter of ansible-playbook.
type how struct {
	step  `json:",inline"`
	Steps []step `json:"steps"` // more runs, one after the other; what one leaves out is as in the first
	// Differs names the allowed differences that the project shows; "?" after a name says that chance decides.
	Differs []string `json:"differs"`
	// Unordered says that hosts do not wait for each other: only the order of each host's events counts.
	Unordered bool `json:"unordered"`
	// Cluster asks for an API server: a kubeconfig for the run, and the variables namespace and token.
	Cluster bool `json:"cluster"`
	// Web asks for a web server, whose address is in the variable web.
	Web bool `json:"web"`
	// Thorough projects are left out unless -thorough asks for them.
	Thorough bool `json:"thorough"`
	// Links are symbolic links, by name, to files outside of the project.
	Links map[string]string `json:"links"`
	// Programs are files that are made executable.
	Programs []string `json:"programs"`
}

// step is one run.
type step struct {
	Playbook  string            `json:"playbook"` // default play.yml, if there is no role
	Role      string            `json:"role"`
	RoleName  string            `json:"roleName"`
	Args      string            `json:"args"` // --ansible-args
	Env       map[string]string `json:"env"`
	Unset     []string          `json:"unset"` // variables that the operator's environment lacks
	Inputs    map[string]any    `json:"inputs"`
	Vault     string            `json:"vault"` // password
	Verbosity *int              `json:"verbosity"`
	Cancel    string            `json:"cancel"` // a file of the project: when it is there, the run is ended from outside
	// Code is the exit code that is expected of both, so that a mistake in the project does not pass for equal.
	Code int `json:"code"`
	// AnyCode takes every exit code.
	AnyCode bool `json:"-"`
	// Modules says how many modules warm executes in which way.
	Modules map[string]int `json:"modules"`
	// Falls is why warm leaves the whole run to direct; empty if it does not.
	Falls string `json:"falls"`
}

// runs returns the steps with their defaults.
func (p project) runs() []step {
	first := p.step
	if first.Playbook == "" && first.Role == "" {
		first.Playbook = "play.yml"
	}
	all := []step{first}
	for _, s := range p.Steps {
		if s.Playbook == "" && s.Role == "" {
			s.Playbook, s.Role, s.RoleName = first.Playbook, first.Role, first.RoleName
		}
		all = append(all, s)
	}
	return all
}

const archives = "testdata/cases"

// readProjects reads all archives.
func readProjects(t *testing.T) []project {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(archives, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("find projects: %v", err)
	}
	var all []project
	for _, path := range paths {
		all = append(all, readProject(t, path))
	}
	return all
}

func readProject(t *testing.T, path string) project {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := project{
		name:   strings.TrimSuffix(filepath.Base(path), ".txtar"),
		proves: string(bytes.TrimSpace(archive.Comment)),
	}
	for _, f := range archive.Files {
		if f.Name != "case.yml" {
			p.files = append(p.files, f)
		} else if err := yaml.UnmarshalStrict(f.Data, &p.how); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return p
}

// write makes the project's files in an empty directory.
func (p project) write(t *testing.T, dir string) {
	t.Helper()
	for _, f := range p.files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range p.Programs {
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range p.Links {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
}

// merged returns the union of maps; of several values for a key the last counts.
func merged[V any](all ...map[string]V) map[string]V {
	union := map[string]V{}
	for _, m := range all {
		maps.Copy(union, m)
	}
	return union
}
