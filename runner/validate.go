package runner

import (
	"context"
	"errors"

	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/helm"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// ValidateOptions are the settings of [Validate].
type ValidateOptions struct {
	// WatchesFile is the path of watches.yaml.
	WatchesFile string
	// Strict makes errors of unknown keys.
	Strict bool
}

// Report is what [Validate] found.
type Report struct {
	Watches  int      // entries in the file
	Problems []string // what must be mended, one line each
	Warnings []string // what should be looked at, one line each
}

// Validate checks a watches file and what it refers to. Nothing is run and no cluster is asked.
func Validate(ctx context.Context, o ValidateOptions) Report {
	file, err := watches.Load(o.WatchesFile, watches.Options{Strict: o.Strict})
	report := Report{Watches: len(file.Watches)}
	for _, warning := range file.Warnings {
		report.Warnings = append(report.Warnings, warning.String())
	}
	var problems watches.Problems
	switch {
	case errors.As(err, &problems):
		for _, problem := range problems {
			report.Problems = append(report.Problems, problem.String())
		}
	case err != nil:
		report.Problems = append(report.Problems, err.Error())
	}
	for _, w := range file.Watches {
		report.checkContent(ctx, w)
	}
	return report
}

// checkContent checks what a watch runs, as far as that goes without running it.
func (r *Report) checkContent(ctx context.Context, w watches.Watch) {
	var err error
	switch {
	case w.InRegistry(): // nobody is asked
	case w.Chart != "":
		err = helm.CheckChart(w.Chart)
	case w.Playbook != "":
		err = ansible.CheckSyntax(ctx, w.Playbook)
	}
	if err == nil && w.Finalizer != nil && w.Finalizer.Playbook != "" {
		err = ansible.CheckSyntax(ctx, w.Finalizer.Playbook)
	}
	if errors.Is(err, ansible.ErrNotInstalled) {
		r.Warnings = append(r.Warnings, w.Position.String()+": "+err.Error())
	} else if err != nil {
		r.Problems = append(r.Problems, w.Position.String()+": "+err.Error())
	}
}
