package privatedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Find returns the paths that [Take] may have given a directory of this name, of this user or of others, used or abandoned.
func Find(name string) ([]string, error) {
	temp, err := filepath.Abs(os.TempDir())
	if err != nil {
		return nil, fmt.Errorf("find the directory for temporary files, which the environment variable TMPDIR names: %w", err)
	}
	entries, err := os.ReadDir(temp)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for private directories: %w", err)
	}
	var paths []string
	for _, entry := range entries {
		if entry.Name() == name || strings.HasPrefix(entry.Name(), name+"-") {
			paths = append(paths, filepath.Join(temp, entry.Name()))
		}
	}
	return paths, nil
}

// Siblings returns where other directories of the same name may be; nowhere if the place was chosen for this one.
func (d *Dir) Siblings() ([]string, error) {
	if d.name == "" {
		return nil, nil
	}
	paths, err := Find(d.name)
	return slices.DeleteFunc(paths, func(path string) bool { return path == d.path }), err
}

// Temporary reports whether a sibling was made for one process alone, and is of no use without it.
func (d *Dir) Temporary(sibling string) bool { return filepath.Base(sibling) != d.name }
