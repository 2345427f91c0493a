package proxy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
)

// tools runs programs as a playbook does: all that they know is the run's kubeconfig.
type tools struct {
	dir string // home and working directory
	env []string
}

func newTools(t *testing.T, session *proxy.Session) tools {
	t.Helper()
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, must(session.Kubeconfig()), 0o600); err != nil {
		t.Fatal(err)
	}
	return tools{dir: dir, env: append(os.Environ(), "HOME="+dir, "TMPDIR="+dir, "LANG=C.UTF-8", "KUBECONFIG="+kubeconfig,
		"K8S_AUTH_KUBECONFIG="+kubeconfig, "ANSIBLE_NOCOLOR=1", "ANSIBLE_LOCALHOST_WARNING=0", "HELM_NO_PLUGINS=1")}
}

// write puts a file into the directory.
func (s tools) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// run returns what a program prints.
func (s tools) run(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out)
}

// writeChart puts a chart with a ConfigMap, a Secret and a Deployment into the directory.
func (s tools) writeChart(t *testing.T) string {
	t.Helper()
	s.write(t, "chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n")
	s.write(t, "chart/values.yaml", "k: one\n")
	s.write(t, "chart/templates/all.yaml", `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data: {k: {{ .Values.k }}, app: {{ .Capabilities.APIVersions.Has "proxy.example.com/v1/App" | quote }}}
---
apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}}
stringData: {k: {{ .Values.k }}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {containers: [{name: c, image: example.invalid/none}]}
`)
	return filepath.Join(s.dir, "chart")
}
