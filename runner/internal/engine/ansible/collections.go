package ansible

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Bounds of the search for collections, over all directories. What is beyond is imported when a task needs it.
const (
	maxLookedAt    = 20_000    // files and directories, whatever they are
	maxScanned     = 2000      // files that are read
	maxScannedSize = 256 << 10 // bytes of one of them
	maxScannedAll  = 16 << 20  // bytes of all
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
	s := search{found: map[string]bool{}, entered: map[string]bool{}}
	for _, name := range alwaysPreloaded {
		s.found[name] = true
	}
	for _, dir := range dirs {
		s.walk(filepath.Clean(dir))
	}
	return slices.Sorted(maps.Keys(s.found))
}

// search is a search for collections.
type search struct {
	found    map[string]bool // by name
	entered  map[string]bool // directories
	lookedAt int
	scanned  int   // files
	size     int64 // bytes of these
}

func (s *search) walk(root string) {
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read is no content
		}
		return s.visit(root, path, entry)
	})
}

// visit looks at one file or directory.
func (s *search) visit(root, path string, entry fs.DirEntry) error {
	s.lookedAt++
	switch {
	case s.lookedAt > maxLookedAt || s.scanned >= maxScanned || s.size >= maxScannedAll || len(s.found) >= maxCollections:
		return fs.SkipAll
	case entry.IsDir():
		return s.enter(root, path)
	case isYAML(path):
		s.scan(path)
	}
	return nil
}

// enter says which directories are left out: hidden ones, collections, which hold much that is not used, what is too deep,
// and what has been entered from another root.
func (s *search) enter(root, path string) error {
	if s.entered[path] || path != root && leftOut(root, path) {
		return fs.SkipDir
	}
	s.entered[path] = true
	return nil
}

func leftOut(root, path string) bool {
	name := filepath.Base(path)
	return name[0] == '.' || name == "collections" || name == "ansible_collections" ||
		strings.Count(strings.TrimPrefix(path, root), string(filepath.Separator)) > maxScannedDeep
}

func isYAML(path string) bool {
	extension := filepath.Ext(path)
	return extension == ".yml" || extension == ".yaml"
}

func (s *search) scan(path string) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxScannedSize {
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	s.scanned++
	s.size += info.Size()
	for _, match := range moduleKey.FindAllSubmatch(text, -1) {
		if name := string(match[1]); !strings.HasPrefix(name, "ansible.") && len(s.found) < maxCollections { // ansible-core's own
			s.found[name] = true
		}
	}
}
