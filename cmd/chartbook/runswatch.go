package main

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/chartbook-operator/chartbook/runner"
)

// watchPeriod is how often --watch looks.
const watchPeriod = time.Second

// follow shows the runs, and then those that are new or in another state, until ctx is done.
func (f *runsFlags) follow(ctx context.Context, cmd *cobra.Command, runs []runner.RunRecord) error {
	table, encoder := newRunsTable(cmd.OutOrStdout(), f.output == asWide), json.NewEncoder(cmd.OutOrStdout())
	ticker := time.NewTicker(watchPeriod)
	defer ticker.Stop()
	for shown := map[string]bool{}; ; {
		fresh := unseen(runs, shown)
		slices.Reverse(fresh) // what comes last is at the end
		if f.output != asJSON {
			if err := table.show(fresh, time.Now()); err != nil {
				return err
			}
		}
		for i := 0; f.output == asJSON && i < len(fresh); i++ {
			if err := encoder.Encode(fresh[i]); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		report, err := runner.Runs(ctx, f.options)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		runs = f.chosen(report.Runs)
	}
}

// unseen returns the runs that were not shown in their state, and takes note of all of them.
func unseen(runs []runner.RunRecord, shown map[string]bool) []runner.RunRecord {
	var fresh []runner.RunRecord
	present := map[string]bool{}
	for _, r := range runs {
		key := identity(r)
		if present[key] = true; !shown[key] {
			fresh = append(fresh, r)
		}
	}
	clear(shown)
	for key := range present {
		shown[key] = true
	}
	return fresh
}

// identity tells apart the states of runs. One that waits or is planned has no id.
func identity(r runner.RunRecord) string {
	key := string(r.State) + " " + r.ID
	if r.ID == "" {
		key += r.APIVersion + " " + r.Kind + " " + r.Namespace + " " + r.Name + " " + string(r.Trigger) + " " + r.Due.String()
	}
	return key
}
