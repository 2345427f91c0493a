package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/chartbook-operator/chartbook/runner"
)

// printDetails prints all that is known of a run, and nothing about what is not.
func printDetails(out io.Writer, r runner.RunRecord, now time.Time) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name string, text string) {
		for text := range strings.SplitSeq(text, "\n") {
			if text != "" {
				fmt.Fprintf(w, "%s\t%s\n", name, printable(text))
				name = ""
			}
		}
	}
	line("Run:", r.ID)
	line("Resource:", kindAndGroup(r)+" "+namespaceAndName(r))
	line("Generation:", positive(int(r.Generation)))
	line("Mode:", string(r.Mode))
	line("Trigger:", joined(": ", string(r.Trigger), r.Schedule, r.Why))
	line("Attempt:", positive(r.Attempt))
	line("Outcome:", joined(" ", outcomeOf(r), reasonOf(r)))
	line("Message:", r.Message)
	line("Executor:", wayOf(r))
	line("Modules:", modulesText(r))
	if t := r.Tasks; t != nil {
		line("Tasks:", fmt.Sprintf("%d ok, %d changed, %d skipped, %d failed", t.OK, t.Changed, t.Skipped, t.Failed))
	}
	if release := r.Release; release != nil {
		line("Release:", fmt.Sprintf("%s, revision %d, %s", release.Name, release.Revision, release.Action))
	}
	line("Waited:", secondsText(r.WaitSeconds))
	line("Started:", momentText(r.Started))
	line("Finished:", momentText(r.Finished))
	line("Duration:", durationText(r, now))
	line("Requests:", positive(r.Requests))
	line("Processes:", positive(r.Processes))
	if r.MemoryBytes > 0 {
		line("Memory:", fmt.Sprintf("%d MiB", (r.MemoryBytes+1<<20-1)>>20))
	}
	line("Artifacts:", r.Artifacts)
	return w.Flush()
}

// wayOf says what carried a run out, and why it was not what was asked for.
func wayOf(r runner.RunRecord) string {
	switch {
	case r.Executor == "":
		return r.Asked
	case r.Fallback != "":
		return fmt.Sprintf("%s; %s was asked for, but: %s", r.Executor, r.Asked, r.Fallback)
	}
	return r.Executor
}

// forkedModules counts modules that ran in forks.
const forkedModules = "forked"

// modulesText says how many modules ran in forks, and how many in processes of their own and why.
func modulesText(r runner.RunRecord) string {
	forked, others := r.Modules[forkedModules], 0
	for path, n := range r.Modules {
		if path != forkedModules {
			others += n
		}
	}
	switch {
	case forked+others == 0:
		return ""
	case others == 0:
		return fmt.Sprintf("%d in forks", forked)
	}
	own := r
	own.Modules = map[string]int{}
	for path, n := range r.Modules {
		if path != forkedModules {
			own.Modules[path] = n
		}
	}
	return fmt.Sprintf("%d in forks, %d in processes of their own (%s)", forked, others, modulesOf(own))
}

// joined joins the texts that are not empty.
func joined(separator string, texts ...string) string {
	var parts []string
	for _, text := range texts {
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, separator)
}
