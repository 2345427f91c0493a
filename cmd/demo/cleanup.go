package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// cleanup remembers how to undo what was done.
type cleanup struct{ tasks []undoTask }

type undoTask struct {
	what  string
	limit time.Duration
	undo  func(context.Context) error
}

// add remembers how to undo what was just done, and how long that may take.
func (c *cleanup) add(what string, limit time.Duration, undo func(context.Context) error) {
	c.tasks = append(c.tasks, undoTask{what, limit, undo})
}

// run undoes everything, the last thing first. What fails does not keep the rest from being undone.
func (c *cleanup) run(ctx context.Context, say func(format string, args ...any)) error {
	var errs []error
	for _, task := range slices.Backward(c.tasks) {
		say("%s", task.what)
		if err := task.run(ctx); err != nil {
			errs = append(errs, err)
		}
	}
	c.tasks = nil
	return errors.Join(errs...)
}

func (t undoTask) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, t.limit, fmt.Errorf("not within %s", t.limit))
	defer cancel()
	if err := t.undo(ctx); err != nil {
		return fmt.Errorf("%s: %w", t.what, err)
	}
	return nil
}
