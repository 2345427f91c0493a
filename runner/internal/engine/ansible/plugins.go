package ansible

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// embedded are the callback plugin, the collection and the warm executor that come with the engine.
//
//go:embed python/callback python/collections python/warm/start.py python/warm/chartbook_warm/*.py python/warm/chartbook_warm/adapters/*.py
var embedded embed.FS

// installPlugins writes the embedded Python files below dir, which gets python/callback, python/collections and
// python/warm.
func installPlugins(dir string) error {
	err := fs.WalkDir(embedded, "python", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(path))
		if entry.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		text, err := embedded.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o600)
	})
	if err != nil {
		return fmt.Errorf("install the Ansible plugins: %w", err)
	}
	return nil
}
