package ansible

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// vaultOptions are the options of ansible-playbook that name a file with a vault's password.
var vaultOptions = []string{"--vault-password-file", "--vault-pass-file"}

// checkVaultFiles refuses a relative path of a password file: runs begin in directories of their own, where it leads
// nowhere. Whether the file is there is not looked at, since it may be mounted later.
func checkVaultFiles(args []string) error {
	for i, arg := range args {
		name, path, joined := strings.Cut(arg, "=")
		if !slices.Contains(vaultOptions, name) {
			continue
		}
		if !joined && i+1 < len(args) {
			path = args[i+1]
		}
		if path != "" && !filepath.IsAbs(path) && !strings.ContainsRune("~$", rune(path[0])) {
			return fmt.Errorf("%s %q of the arguments for ansible-playbook: write an absolute path", name, path)
		}
	}
	return nil
}
