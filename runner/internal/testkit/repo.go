package testkit

import (
	"path/filepath"
	"runtime"
)

// RepoRoot returns the directory that holds go.mod.
func RepoRoot() string {
	_, file, _, _ := runtime.Caller(0) //nolint:dogsled // that is how the standard library tells the file
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}
