// Package fingerprint tells whether files have changed, by their names, sizes and times and without reading them.
package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxFiles bounds how many files are looked at below one path. What lies beyond counts as unchanged.
const maxFiles = 50_000

// Of returns a text that changes when a file at or below one of the paths does, comes or goes. Hidden files are left out:
// Ansible keeps its own there. A path that cannot be read counts as such. salt is whatever else the text is to depend on.
func Of(salt string, paths ...string) string {
	sum := sha256.New()
	fmt.Fprintln(sum, salt)
	for _, path := range paths {
		add(sum, path)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

func add(sum hash.Hash, root string) {
	fmt.Fprintln(sum, root)
	target, err := filepath.EvalSymlinks(root)
	if err != nil {
		fmt.Fprintln(sum, "unreadable")
		return
	}
	files := 0
	_ = filepath.WalkDir(target, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			fmt.Fprintln(sum, path, "unreadable")
			return nil //nolint:nilerr // what cannot be read counts as such
		case path != target && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		if files++; files > maxFiles {
			return fs.SkipAll
		}
		if info, err := os.Stat(path); err == nil { // what a link points to counts, not the link
			fmt.Fprintln(sum, path, info.Size(), info.ModTime().UnixNano(), info.Mode())
		}
		return nil
	})
}
