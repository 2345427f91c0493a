package ansible

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// localInventory is the inventory of a run for which the user has not given another one.
func localInventory(env environment) string {
	interpreter := "{{ansible_playbook_python}}"
	if venv := env["VIRTUAL_ENV"]; venv != "" {
		interpreter = filepath.Join(venv, "bin", "python3")
	}
	return "localhost ansible_connection=local ansible_python_interpreter=" + interpreter
}

// userInventories returns the inventories that ANSIBLE_INVENTORY names, none if it is not set: the absolute path of
// a file or directory, several of those with commas between them, or a list of hosts with a comma in it.
func userInventories(env environment) ([]string, error) {
	value := env["ANSIBLE_INVENTORY"]
	if value == "" {
		return nil, nil
	}
	if path, ok := existing(value); ok {
		return []string{path}, nil
	}
	var paths []string
	for part := range strings.SplitSeq(value, ",") {
		if path, ok := existing(part); ok {
			paths = append(paths, path)
		}
	}
	switch {
	case !strings.Contains(value, ","):
		return nil, fmt.Errorf("inventory %q of ANSIBLE_INVENTORY does not exist", value)
	case len(paths) == 0:
		return []string{value}, nil
	case len(paths) < strings.Count(value, ",")+1:
		return nil, fmt.Errorf("some of the inventories %q of ANSIBLE_INVENTORY do not exist", value)
	}
	return paths, nil
}

func existing(path string) (absolute string, ok bool) {
	if path == "" {
		return "", false
	}
	if _, err := os.Stat(path); err != nil {
		return "", false
	}
	absolute, err := filepath.Abs(path)
	return absolute, err == nil
}
