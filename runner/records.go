package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"

	"github.com/chartbook-operator/chartbook/runner/internal/controller"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible"
	"github.com/chartbook-operator/chartbook/runner/internal/journal"
	"github.com/chartbook-operator/chartbook/runner/internal/privatedir"
)

// chartsDir is the name of the private directory of an operator that has neither playbooks nor roles.
const chartsDir = "helm-operator"

// records are what the operator keeps for people on the same machine who ask what ran, what runs and what waits.
type records struct {
	journal *journal.Journal // nil keeps nothing
	window  *journal.Window  // nil answers nobody
	private *privatedir.Dir  // taken for them alone; nil if it is the engines'

	log         logr.Logger
	since       time.Time
	elected     <-chan struct{}
	controllers []*controller.Controller
}

// openRecords opens the records in the workspace of playbooks, or without one in a directory of their own. That nothing can be
// recorded is no reason not to run: nil records keep nothing.
func openRecords(o Options, workspace *ansible.Workspace, now time.Time) *records {
	r := &records{log: o.Log.WithName("records"), since: now}
	if err := r.open(o, workspace); err != nil {
		r.log.Info("Runs are not recorded", "cause", err.Error())
		if err := r.close(); err != nil {
			r.log.Error(err, "Records cannot be closed")
		}
		return nil
	}
	return r
}

func (r *records) open(o Options, workspace *ansible.Workspace) (err error) {
	var private string
	if workspace != nil {
		private = workspace.Dir()
	} else {
		if r.private, err = privatedir.Take(o.Ansible.PrivateDir, chartsDir); err != nil {
			return err
		}
		private = r.private.Path()
	}
	r.journal, err = journal.Open(private, recordBytes(o.Ansible.ArtifactsMaxBytes), func(err error) {
		r.log.Error(err, "Records of runs are lost")
	})
	if err == nil {
		r.window, err = journal.OpenWindow(private, r.live)
	}
	return err
}

// maxRecordBytes is enough for some thousand runs.
const maxRecordBytes = 2 << 20

// recordBytes is the share of records in the disk budget of artifacts; zero if it is too small to keep any.
func recordBytes(budget int64) int64 {
	share := min(maxRecordBytes, budget/8)
	if share < journal.MinBytes {
		return 0
	}
	return share
}

// follow has the records tell of what controllers know, and whether this replica leads. It returns what tells.
func (r *records) follow(controllers []*controller.Controller, elected <-chan struct{}) []server {
	if r == nil {
		return nil
	}
	r.controllers, r.elected = controllers, elected
	return []server{r}
}

// Start answers those who ask, until ctx is done. That nobody can ask is no reason to stop the operator.
func (r *records) Start(ctx context.Context) error {
	if err := r.window.Start(ctx); err != nil {
		r.log.Error(err, "What runs and waits is not told any more")
		<-ctx.Done()
	}
	return nil
}

// live is what the window shows.
func (r *records) live() journal.Live {
	live := journal.Live{Since: r.since, Keeps: r.journal != nil}
	select {
	case <-r.elected:
		live.Leading = true
	default:
	}
	for _, c := range r.controllers {
		live.Queue = append(live.Queue, c.Outlook()...)
	}
	return live
}

// close gives up what was opened. No run may be under way.
func (r *records) close() error {
	if r == nil {
		return nil
	}
	err := errors.Join(r.window.Close(), r.journal.Close())
	if r.private != nil {
		err = errors.Join(err, r.private.Release())
	}
	if err != nil {
		return fmt.Errorf("close the records of runs: %w", err)
	}
	return nil
}
