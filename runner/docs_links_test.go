package runner_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinksLead looks for what the manual and the other pages at the root link to.
func TestLinksLead(t *testing.T) {
	pages := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	docs, err := filepath.Glob(filepath.Join(testkit.RepoRoot(), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range docs {
		pages = append(pages, filepath.Join("docs", filepath.Base(path)))
	}
	for _, page := range pages {
		for _, match := range link.FindAllStringSubmatch(readPage(t, page), -1) {
			if !strings.Contains(match[1], "://") && !leads(t, page, match[1]) {
				t.Errorf("%s links to %s, which is not there", page, match[1])
			}
		}
	}
}

// leads reports whether a relative link has an end: a file, and in a page a heading.
func leads(t *testing.T, page, target string) bool {
	t.Helper()
	path, anchor, _ := strings.Cut(target, "#")
	if path != "" {
		page = filepath.Join(filepath.Dir(page), path)
	}
	if _, err := os.Stat(filepath.Join(testkit.RepoRoot(), page)); err != nil {
		return false
	}
	return anchor == "" || slices.Contains(anchors(readPage(t, page)), anchor)
}

var notInAnchors = regexp.MustCompile(`[^a-z0-9 _-]`)

// anchors are how headings are linked to.
func anchors(page string) []string {
	var list []string
	for line := range strings.Lines(page) {
		if _, heading, found := strings.Cut(line, "# "); found && strings.HasPrefix(line, "#") {
			heading = notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			list = append(list, strings.ReplaceAll(heading, " ", "-"))
		}
	}
	return list
}
