package ansible

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// UP H8: the path had to be absolute, and a wrong one was found out by the first run.
func TestPasswordFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := filepath.Join(dir, "password")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		reason string
		in     string
		env    environment
		want   []string
		says   string
	}{
		{reason: "other arguments stay", in: "--diff -e a=b", want: []string{"--diff", "-e", "a=b"}},
		{reason: "an absolute path stays", in: "--vault-password-file " + file, want: []string{"--vault-password-file=" + file}},
		{reason: "a relative path starts from the working directory", in: "--vault-password-file=password", want: []string{"--vault-password-file=" + file}},
		{reason: "the other name", in: "--vault-pass-file password", want: []string{"--vault-pass-file=" + file}},
		{reason: "with a label", in: "--vault-id dev@password", want: []string{"--vault-id=dev@" + file}},
		{reason: "without", in: "--vault-id password", want: []string{"--vault-id=" + file}},
		{reason: "of the home directory", in: "--vault-password-file ~/password", env: environment{"HOME": dir}, want: []string{"--vault-password-file=" + file}},
		{reason: "a missing file is named", in: "--vault-password-file nowhere", says: "the vault password file " + dir + "/nowhere cannot be read"},
		{reason: "also with a label", in: "--vault-id dev@nowhere", says: dir + "/nowhere"},
		{reason: "also from the environment", env: environment{vaultVariable: "nowhere"}, says: vaultVariable + ": the vault password file " + dir + "/nowhere"},
		{reason: "nobody can be asked", in: "--vault-id dev@prompt", says: "nobody is there to be asked"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			args, err := splitArgs(c.in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := withPasswordFiles(args, c.env)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("the error is %v, want %q", err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

// A file that is missing keeps the operator from starting.
func TestMissingPasswordFileIsAnErrorAtStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := New(Config{Workspace: b.workspace, Main: Content{Playbook: "/play.yml"}, ExtraArgs: "--vault-password-file /nowhere/password"})
	if err == nil || !strings.Contains(err.Error(), "/nowhere/password") {
		t.Errorf("the error is %v", err)
	}
}

// The password is in no argument, and its file is private and goes with the run.
func TestVaultPasswordIsPrivate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	job := newJob()
	job.VaultPassword = []byte("canary")
	job.Env = map[string]string{"FROM_THE_WATCH": "yes"}
	facts := b.playFacts(job)
	path := b.workspace.Dir() + "/runner/demo.example.com/v1alpha1/Sample/default/one/env/vault-password"
	if strings.Contains(facts["argv"], "canary") || !strings.Contains(facts["argv"], "--vault-password-file="+path) {
		t.Errorf("the command line is %q", facts["argv"])
	}
	if strings.Contains(facts["env"], "canary") || facts["$FROM_THE_WATCH"] != "yes" {
		t.Errorf("the environment is %q", facts["env"])
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file stays")
	}
	dir, err := b.workspace.openRun(job)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.close()
	if err := dir.writeVaultPassword(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir.vaultPassword())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v, %v", info.Mode(), err)
	}
}
