package differential

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
)

// maxText is up to which size the content of a file is compared as text, in which variants are replaced.
const maxText = 64 << 10

// variable matches the paths of files whose contents are different each time: compiled Python and what modules are packed
// into hold times, and the Kubernetes client's memory of kinds holds those that other tests have added meanwhile.
var variable = regexp.MustCompile(`\.pyc$|/AnsiballZ_|/async_wrapper\.py$|_payload\.zip$|/(k8s|os)rcp-[0-9a-f]+\.json$`)

// files describes all files of the lane, by path: those of the project and of home, the temporary ones, and those of the
// workspace but for the engine's own.
func (l *lane) files(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(l.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, _ := filepath.Rel(l.dir, path)
		switch relative {
		case ".", "events", "work/lock", "work/runner", "work/running":
			return nil
		case "work/python", "work/zygotes":
			return fs.SkipDir
		}
		if strings.HasPrefix(relative, "work/runner/") && entry.IsDir() {
			if entry.Name() == "artifacts" {
				return fs.SkipDir
			}
			return nil // comes and goes with the artifacts
		}
		found[relative], err = describe(path, entry)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// describe returns what can be compared of a file: its mode, owner and content.
func describe(path string, entry fs.DirEntry) (string, error) {
	info, err := entry.Info()
	if err != nil {
		return "", err
	}
	text := info.Mode().String()
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		text += fmt.Sprintf(" %d:%d", stat.Uid, stat.Gid)
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return text + " -> " + target, err
	case !info.Mode().IsRegular() || variable.MatchString(path):
		return text, nil
	}
	content, err := os.ReadFile(path)
	if err == nil && len(content) <= maxText && utf8.Valid(content) {
		return text + fmt.Sprintf(" %q", content), nil
	}
	return text + fmt.Sprintf(" %d bytes %x", len(content), sha256.Sum256(content)), err
}

// brief shortens the description of a file to what one can read, and its digest.
func brief(line string) string {
	const limit = 2 << 10
	if len(line) <= limit {
		return line
	}
	return fmt.Sprintf("%s... %x", strings.ToValidUTF8(line[:limit], ""), sha256.Sum256([]byte(line)))
}

// changes lists what differs between two descriptions.
func changes(before, after map[string]string) (lines []string) {
	for path, text := range after {
		if old, known := before[path]; !known || old != text {
			lines = append(lines, path+" "+text)
		}
	}
	for path := range before {
		if _, known := after[path]; !known {
			lines = append(lines, path+" is gone")
		}
	}
	slices.Sort(lines)
	return lines
}
