package ansible

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// vaultVariable names a file with a vault password to Ansible.
const vaultVariable = "ANSIBLE_VAULT_PASSWORD_FILE"

// passwordOptions are the options of ansible-playbook that name a file with a vault password.
var passwordOptions = []string{"--vault-password-file", "--vault-pass-file", "--vault-id"}

// withPasswordFiles returns the arguments with the paths of vault password files made absolute: runs begin in a
// directory of their own, where a relative path leads nowhere. A file that is missing is an error, which otherwise
// every run would end with.
func withPasswordFiles(args []string, env environment) ([]string, error) {
	if _, err := passwordFile(env[vaultVariable], env); err != nil {
		return nil, fmt.Errorf("%s: %w", vaultVariable, err)
	}
	found := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !isPasswordOption(name) {
			found = append(found, args[i])
			continue
		}
		if !joined && i+1 < len(args) {
			i++
			value = args[i]
		}
		label, file := "", value
		if at := strings.LastIndexByte(value, '@'); name == "--vault-id" && at >= 0 {
			label, file = value[:at+1], value[at+1:]
		}
		path, err := passwordFile(file, env)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", name, value, err)
		}
		found = append(found, name+"="+label+path)
	}
	return found, nil
}

func isPasswordOption(name string) bool {
	return slices.Contains(passwordOptions, name)
}

var errPrompt = errors.New("nobody is there to be asked for a vault password; name a file")

// passwordFile returns the absolute path of a vault password file that is there. Paths that begin with a variable are
// Ansible's to read.
func passwordFile(file string, env environment) (string, error) {
	switch {
	case file == "" || strings.HasPrefix(file, "$"):
		return file, nil
	case file == "prompt" || file == "prompt_ask_vault_pass":
		return "", errPrompt
	}
	path := file
	if below, ofHome := strings.CutPrefix(path, "~/"); ofHome {
		path = filepath.Join(home(env), below)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the vault password file: %w", err)
	}
	if _, err := os.Stat(path); err != nil { // a *PathError
		return "", fmt.Errorf("the vault password file %s cannot be read: %w", path, errors.Unwrap(err))
	}
	return path, nil
}
