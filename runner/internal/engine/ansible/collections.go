package ansible

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Bounds of the search for collections. What is beyond is imported when a task needs it.
const (
	maxScanned     = 2000      // files
	maxScannedSize = 256 << 10 // bytes of one file
	maxScannedDeep = 8         // directories within each other
	maxCollections = 20
)

// alwaysPreloaded are collections that most content uses.
var alwaysPreloaded = []string{"kubernetes.core", "operator_sdk.util"}

// moduleKey matches a key that may be the full name of a module, as tasks have it.
var moduleKey = regexp.MustCompile(`(?m)^[ \t]*(?:- +)?([a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*)\.[a-z_][a-z0-9_]* *:`)

// Collections returns the names of the collections that the YAML files in these directories seem to use, and of those that
// most content does, in order. Whether they are there is not looked at.
func Collections(dirs []string) []string {
	found := map[string]bool{}
	for _, name := range alwaysPreloaded {
		found[name] = true
	}
	files := 0
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // what cannot be read is no content
			case entry.IsDir():
				return enter(dir, path, entry.Name())
			case !isYAML(path):
				return nil
			}
			if files++; files > maxScanned || len(found) >= maxCollections {
				return fs.SkipAll
			}
			scan(path, found)
			return nil
		})
	}
	return slices.Sorted(maps.Keys(found))
}

// enter says which directories are left out: hidden ones, collections, which hold much that is not used, and what is too
// deep.
func enter(root, path, name string) error {
	below, _ := filepath.Rel(root, path)
	if below == "." {
		return nil
	}
	if name[0] == '.' || name == "collections" || strings.Count(below, string(filepath.Separator)) >= maxScannedDeep {
		return fs.SkipDir
	}
	return nil
}

func isYAML(path string) bool {
	extension := filepath.Ext(path)
	return extension == ".yml" || extension == ".yaml"
}

func scan(path string, found map[string]bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxScannedSize {
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	for _, match := range moduleKey.FindAllSubmatch(text, -1) {
		if !bytes.HasPrefix(match[1], []byte("ansible.")) { // ansible-core's own
			found[string(match[1])] = true
		}
	}
}
