package ansible

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/chartbook-operator/chartbook/runner/internal/privatedir"
	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// clearInterrupted ends what runs have left that a former process of this workspace could not end, and removes their
// private files. Whoever calls it holds the workspace's lock, so that the former process is gone.
//
// The runs are those with a note; their ids are random, so that no process of anyone else's carries one of their marks. What
// they were forked from goes too.
func (w *Workspace) clearInterrupted() error {
	entries, err := os.ReadDir(w.runningDir())
	if err != nil {
		return err
	}
	marks := w.zygoteMarks()
	for _, entry := range entries {
		marks = append(marks, runVariable+"="+entry.Name())
	}
	if err := (process.OS{}).EndLeftovers(marks); err != nil {
		return err
	}
	for _, entry := range entries {
		if err := w.wipeInterrupted(filepath.Join(w.runningDir(), entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// wipeInterrupted removes the private files that a note tells of, and then the note.
func (w *Workspace) wipeInterrupted(note string) error {
	resource, err := os.ReadFile(note)
	if err != nil {
		return err
	}
	if len(resource) > 0 { // else the process was killed while it wrote the note, before any other file
		w.wipe(string(resource))
	}
	return os.Remove(note)
}

// endAbandoned does the same, once, for other operators' workspaces in the directory for temporary files: those of
// operators that were killed, where this one could have taken over their resources. It comes before the first run rather
// than at the start, since a replica may have waited for its leader to die.
func (w *Workspace) endAbandoned() error {
	w.abandoned.Lock()
	defer w.abandoned.Unlock()
	if w.alone {
		return nil
	}
	paths, err := w.private.Siblings()
	if err != nil {
		return fmt.Errorf("look for what killed operators left: %w", err)
	}
	for _, path := range paths {
		if err := clearAbandoned(path, w.private.Temporary(path)); err != nil {
			return fmt.Errorf("clear what a killed operator left in %s: %w", path, err)
		}
	}
	w.alone = true
	return nil
}

// clearAbandoned clears a workspace whose process is gone. One that is used, or of another user, or not one of ours, is
// left alone.
func clearAbandoned(path string, temporary bool) error {
	if !privatedir.Own(filepath.Join(path, "running")) {
		return nil
	}
	private, ok := privatedir.TakeOver(path)
	if !ok {
		return nil // its process lives, or never got far enough to run anything
	}
	defer func() { _ = private.Unlock() }()
	w := &Workspace{dir: path, private: private}
	var err error
	if w.runner, err = os.OpenRoot(w.runnerDir()); err != nil {
		return nil // nothing has run there
	}
	defer func() { _ = w.runner.Close() }()
	if err := w.clearInterrupted(); err != nil || !temporary {
		return err
	}
	return os.RemoveAll(path)
}
