package testkit

import (
	"path/filepath"
	"runtime"
)

// RepoRoot returns the directory that holds go.mod.
func RepoRoot() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}
