package ansible

import (
	"strings"
	"testing"
)

// TestVaultFiles: with a relative path each run of the old operator failed, and its words did not say why (UP H8).
func TestVaultFiles(t *testing.T) {
	for _, tt := range []struct{ why, args, says string }{
		{"no vault", "--tags a", ""},
		{"an absolute path", "--vault-password-file /opt/pwd", ""},
		{"after an equals sign", "--vault-password-file=/opt/pwd", ""},
		{"Ansible knows home directories and variables", "--vault-pass-file=~/pwd --vault-password-file $HOME/pwd", ""},
		{"a relative path", "'--tags a --vault-password-file pwd.yml'", `"pwd.yml"`},
		{"after an equals sign", "--vault-pass-file=./pwd.yml", `"./pwd.yml"`},
		{"no path at all is told by ansible-playbook", "--vault-password-file", ""},
		{"a source of another kind", "--vault-id dev@prompt", ""},
	} {
		_, err := New(Config{Workspace: &Workspace{}, Main: Content{Playbook: "/p.yml"}, ExtraArgs: tt.args})
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says+" of the arguments for ansible-playbook: write an absolute path") {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}
