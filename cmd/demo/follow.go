package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/fsnotify/fsnotify"
)

// follow calls line for each line of a file, those that are added later included, until ctx ends. The operator writes
// to the file itself rather than to us, so that it can outlive us.
func follow(ctx context.Context, path string, line func(string)) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("follow the log: %w", err)
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		_ = file.Close()
		return fmt.Errorf("follow %s: %w", path, err)
	}
	if err := watcher.Add(path); err != nil {
		_, _ = file.Close(), watcher.Close()
		return fmt.Errorf("follow %s: %w", path, err)
	}
	go func() {
		defer func() { _, _ = file.Close(), watcher.Close() }()
		lines := &lineWriter{line: line}
		for {
			// A log that cannot be read any more is missed by no one but the table.
			if _, err := io.Copy(lines, file); err != nil {
				return
			}
			select {
			case <-ctx.Done():
				return
			case _, open := <-watcher.Events:
				if !open {
					return
				}
			case _, open := <-watcher.Errors:
				if !open {
					return
				}
			}
		}
	}()
	return nil
}
