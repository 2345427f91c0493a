package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/chartbook-operator/chartbook/runner"
)

// TestRunningPageListsEveryFlag compares the tables of flags in the manual with the flags, and their defaults.
func TestRunningPageListsEveryFlag(t *testing.T) {
	text, err := os.ReadFile("../../docs/running.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, row := range regexp.MustCompile("(?m)^\\| `--([a-z0-9-]+)` \\|").FindAllSubmatch(text, -1) {
		got = append(got, string(row[1]))
	}
	flags := runFlagsOf(runner.Chartbook)
	flags.VisitAll(func(f *pflag.Flag) { want = append(want, f.Name) })
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("flags in docs/running.md (-code +page):\n%s", diff)
	}
}

// TestPagesUseExistingFlags looks for flags in all that users read or copy.
func TestPagesUseExistingFlags(t *testing.T) {
	known := runFlagsOf(runner.Chartbook)
	var pages []string
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../deploy/manager/*.yaml", "../../Dockerfile", "../../Makefile"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	if len(pages) < 8 {
		t.Fatalf("there are only %d pages to look through: %v", len(pages), pages)
	}
	// A flag of ours begins like one; those of other programs that the pages show have other beginnings.
	ours := regexp.MustCompile(`--((?:watches|reconcile|run|max|graceful|inject|suppress|status|ansible|proxy|artifacts|health|metrics|private|user|enable|leader|zap)-[a-z0-9-]*[a-z0-9])`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range ours.FindAllSubmatch(text, -1) {
			if known.Lookup(string(match[1])) == nil {
				t.Errorf("%s has the flag --%s, which run does not have", page, match[1])
			}
		}
	}
}

// TestOldToolsDefaultsOnTheRunningPage keeps the second table of flags true.
func TestOldToolsDefaultsOnTheRunningPage(t *testing.T) {
	want := map[runner.Tool]map[string]string{
		runner.AnsibleOperator: {
			"reconcile-period": "10h0m0s", "run-timeout": "0s", "metrics-bind-address": ":8443",
			"health-probe-bind-address": ":6789", "metrics-secure": "false", "metrics-require-rbac": "false",
		},
		runner.HelmOperator: {
			"reconcile-period": "1m0s", "run-timeout": "0s", "metrics-bind-address": ":8080",
			"health-probe-bind-address": ":8081", "metrics-secure": "false", "metrics-require-rbac": "false",
		},
	}
	for tool, defaults := range want {
		changed := map[string]string{}
		ours := runFlagsOf(runner.Chartbook)
		runFlagsOf(tool).VisitAll(func(f *pflag.Flag) {
			if f.DefValue != ours.Lookup(f.Name).DefValue || defaults[f.Name] != "" {
				changed[f.Name] = f.DefValue
			}
		})
		delete(changed, "metrics-addr") // an old name; its default is that of the new one
		if diff := cmp.Diff(defaults, changed); diff != "" {
			t.Errorf("defaults of %s that differ from chartbook's (-page +code):\n%s", tool, diff)
		}
	}
}

func runFlagsOf(tool runner.Tool) *pflag.FlagSet { return newRunCommand(tool).Flags() }
