package runner_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/chartbook-operator/chartbook"

// allowed says which packages of this module each package may import. Dependencies point one way: control knows of
// engines, engines know of processes, and the leaves know nothing. Paths are relative to the module.
var allowed = map[string][]string{
	"runner/watches":              {"runner/internal/fieldpath", "runner/internal/condition"},
	"runner/internal/fieldpath":   {},
	"runner/internal/condition":   {},
	"runner/internal/engine":      {},
	"runner/internal/process":     {},
	"runner/internal/privatedir":  {},
	"runner/internal/redact":      {},
	"runner/internal/budget":      {},
	"runner/internal/once":        {},
	"runner/internal/fingerprint": {},
	"runner/internal/apirecord":   {"runner/internal/engine"},
	"runner/internal/observe":     {"runner/internal/engine"},
	"runner/internal/journal":     {"runner/internal/engine"},
	"runner/internal/input":       {"runner/internal/engine", "runner/watches"},
	"runner/internal/plan":        {"runner/internal/engine", "runner/watches"},
	"runner/internal/status":      {"runner/internal/engine", "runner/watches"},
	"runner/internal/engine/ansible": {
		"runner/internal/engine", "runner/internal/engine/ansible/warm", "runner/internal/once", "runner/internal/privatedir", "runner/internal/process",
		"runner/internal/apirecord",
	},
	"runner/internal/engine/ansible/warm": {"runner/internal/once", "runner/internal/process"},
	"runner/internal/engine/helm":         {"runner/internal/engine", "runner/internal/engine/helm/drift", "runner/internal/apirecord"},
	"runner/internal/engine/helm/drift":   {},
	"runner/internal/engine/enginetest":   {"runner/internal/engine"},
	"runner/internal/proxy":               {"runner/internal/engine", "runner/internal/apirecord"},
	"runner/internal/dependents":          {"runner/internal/engine", "runner/internal/apirecord"},
	"runner/internal/release":             {},
	"runner/internal/ocichart":            {},
	"runner/internal/related":             {"runner/internal/engine", "runner/internal/input", "runner/internal/apirecord", "runner/watches"},
	"runner/internal/controller": {
		"runner/internal/engine", "runner/internal/plan", "runner/internal/input", "runner/internal/status",
		"runner/internal/observe", "runner/internal/journal", "runner/internal/once", "runner/internal/redact", "runner/internal/budget", "runner/internal/fieldpath",
		"runner/internal/condition", "runner/watches",
	},
	"runner/internal/usermetrics":                 {"runner/internal/engine"},
	"runner/internal/testkit":                     {},
	"runner/internal/testkit/kubectl":             {},
	"runner/internal/engine/ansible/differential": {},
	"runner": {
		"runner/watches", "runner/internal/controller", "runner/internal/engine", "runner/internal/engine/ansible",
		"runner/internal/engine/ansible/warm",
		"runner/internal/engine/helm", "runner/internal/input", "runner/internal/proxy", "runner/internal/dependents",
		"runner/internal/observe", "runner/internal/status", "runner/internal/plan", "runner/internal/process",
		"runner/internal/budget", "runner/internal/fingerprint", "runner/internal/journal", "runner/internal/privatedir",
		"runner/internal/usermetrics", "runner/internal/related", "runner/internal/release", "runner/internal/ocichart", "runner/internal/redact",
	},
	"cmd/chartbook":      {"runner", "runner/watches"},
	"cmd/demo":           {"cmd/internal/child", "cmd/internal/table"},
	"cmd/bench":          {"cmd/internal/child"},
	"cmd/internal/child": {},
	"cmd/internal/table": {},
}

// testOnly are packages that no shipped code may import.
var testOnly = []string{"runner/internal/testkit", "runner/internal/engine/enginetest"}

type listedPackage struct {
	ImportPath string
	Doc        string
	Imports    []string
}

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Imports", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listedPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("read what go list printed: %v", err)
		}
		packages = append(packages, p)
	}
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		may, known := allowed[name]
		if !known {
			t.Errorf("package %s is not in the list of this test; say there what it may import", name)
		}
		for _, path := range p.Imports {
			imported, ours := strings.CutPrefix(path, module+"/")
			if !ours {
				continue
			}
			if slices.Contains(testOnly, imported) && !slices.Contains(testOnly, name) {
				t.Errorf("%s imports %s, which is for tests", name, imported)
			} else if known && !slices.Contains(may, imported) {
				t.Errorf("%s imports %s, which its layer may not", name, imported)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range listPackages(t) {
		if p.Doc == "" {
			t.Errorf("package %s has no package comment", p.ImportPath)
		}
	}
}

func TestLeavesKnowNoClient(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if name != "runner/watches" && name != "runner/internal/engine" && name != "runner/internal/process" && name != "runner/internal/redact" && name != "runner/internal/plan" {
			continue
		}
		for _, path := range p.Imports {
			if strings.HasPrefix(path, "k8s.io/client-go") || strings.HasPrefix(path, "sigs.k8s.io/controller-runtime") {
				t.Errorf("%s imports %s; it is pure", name, path)
			}
		}
	}
}
