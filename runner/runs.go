package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible"
	"github.com/chartbook-operator/chartbook/runner/internal/journal"
	"github.com/chartbook-operator/chartbook/runner/internal/privatedir"
)

// RunsOptions say whose runs [Runs] is to tell of.
type RunsOptions struct {
	// PrivateDir is the private directory of an operator. Empty means those that operators without
	// [AnsibleOptions].PrivateDir take below the directory for temporary files: of operators that live if there are any.
	PrivateDir string
}

// RunsReport is what is known of the runs of operators on this machine.
type RunsReport struct {
	// Runs are first those that wait, then those in progress, then those that have ended, the newest first; at last those
	// that are planned, the soonest first.
	Runs []RunRecord
	// Notes are sentences about what the report lacks.
	Notes []string
}

// RunRecord is what is known of one run.
type RunRecord struct {
	journal.Record
	// Artifacts is the directory with what a playbook printed and did; empty if there is none, or no more.
	Artifacts string `json:"artifacts,omitempty"`
}

// The states of a [RunRecord].
const (
	RunPlanned     = journal.Planned     // it comes by itself, later
	RunQueued      = journal.Queued      // its resource waits for it
	RunRunning     = journal.Running     // it has begun
	RunEnded       = journal.Ended       // it has an outcome
	RunInterrupted = journal.Interrupted // its operator was killed in the midst of it
)

// Runs tells what operators on this machine and of this user ran, what runs, what waits and what is planned. The error says that
// no operator has run here, or that what it keeps cannot be read.
func Runs(ctx context.Context, o RunsOptions) (RunsReport, error) {
	dirs, err := recordDirs(o.PrivateDir)
	if err != nil {
		return RunsReport{}, err
	}
	var living, dead RunsReport
	for _, dir := range dirs {
		report, lives, err := runsIn(ctx, dir)
		if err != nil {
			return RunsReport{}, err
		}
		into := &dead
		if lives {
			into = &living
		}
		into.Runs, into.Notes = append(into.Runs, report.Runs...), append(into.Notes, report.Notes...)
	}
	if living.Runs == nil && living.Notes == nil {
		living = dead
	}
	slices.SortStableFunc(living.Runs, byUrgency)
	return living, nil
}

// recordDirs returns the private directories to look into.
func recordDirs(chosen string) ([]string, error) {
	if chosen != "" {
		return []string{chosen}, nil
	}
	var dirs []string
	for _, name := range []string{ansible.SharedName, chartsDir} {
		found, err := privatedir.Find(name)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, found...)
	}
	own := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return !privatedir.Own(dir) })
	if len(own) == 0 && len(dirs) > 0 {
		return nil, fmt.Errorf("%s belongs to another user; ask as the user that the operator runs as", dirs[0])
	}
	kept := slices.DeleteFunc(own, func(dir string) bool { return !journal.In(dir) })
	if len(kept) == 0 {
		return nil, fmt.Errorf("no operator has run here: neither %s nor %s in %s has records of runs; ask where the operator runs (kubectl exec), or name its --private-dir",
			ansible.SharedName, chartsDir, os.TempDir())
	}
	return kept, nil
}

// runsIn reports the runs of the operator that has a private directory, and whether it lives.
func runsIn(ctx context.Context, dir string) (report RunsReport, lives bool, err error) {
	live, err := journal.Ask(ctx, dir) // first: what ends meanwhile is in the records
	switch {
	case errors.Is(err, journal.ErrNobody):
		report.Notes = append(report.Notes, fmt.Sprintf("no operator is running with %s; these are the runs of the last one", dir))
	case err != nil:
		report.Notes = append(report.Notes, fmt.Sprintf("what waits is not known: %v", err))
	case !live.Leading:
		report.Notes = append(report.Notes, "the operator runs nothing yet: another replica leads, or it has still to reach the API server")
	}
	lives = err == nil
	if lives && !live.Keeps {
		report.Notes = append(report.Notes, "runs that have begun are not recorded: --artifacts-max-bytes leaves no room for that")
	}
	records, err := journal.Read(dir, live.Since)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return report, lives, fmt.Errorf("%w; ask as the user that the operator runs as", err)
	case errors.Is(err, fs.ErrNotExist):
		return report, lives, fmt.Errorf("no operator has run with the private directory %s", dir)
	case err != nil:
		return report, lives, err
	}
	for _, r := range append(records, live.Queue...) {
		report.Runs = append(report.Runs, RunRecord{Record: r, Artifacts: artifactsOf(dir, r)})
	}
	return report, lives, nil
}

// artifactsOf returns where the artifacts of a run are; empty if they are not there.
func artifactsOf(dir string, r journal.Record) string {
	if r.ID == "" {
		return ""
	}
	path := filepath.Join(dir, ansible.ArtifactPath(engine.Owner{
		APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name,
	}, r.ID))
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return ""
	}
	return path
}

// urgency orders the states.
var urgency = []journal.State{journal.Queued, journal.Running, journal.Ended, journal.Planned}

func byUrgency(a, b RunRecord) int {
	rank := func(r RunRecord) int {
		if r.State == journal.Interrupted {
			return slices.Index(urgency, journal.Ended)
		}
		return slices.Index(urgency, r.State)
	}
	newestFirst := momentOf(b).Compare(momentOf(a))
	if a.State == journal.Planned {
		newestFirst = -newestFirst
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), newestFirst)
}

// momentOf is when a run began, or else when it is due or had to be given up.
func momentOf(r RunRecord) time.Time {
	for _, moment := range []time.Time{r.Started, r.Finished} {
		if !moment.IsZero() {
			return moment
		}
	}
	return r.Due
}
