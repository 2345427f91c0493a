package ansible

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/privatedir"
)

// Workspace is the private directory of all Ansible engines of a process. It holds
//
//	runner/<group>/<version>/<kind>/<namespace>/<name>/   what runs of one resource need, and their artifacts
//	running/<run>     where to find the files of a run that has not ended
//	zygotes/          what warm runs are forked from
//	python/           the engine's plugins
//	async/            states of async jobs, where the home directory cannot hold them
//	tmp/              TMPDIR of all runs; emptied when the workspace is opened and closed
//	lock              held by the process
//
// and nothing that others can read. What a killed predecessor left is ended and wiped when it is opened, its artifacts
// kept; see also [Workspace.endAbandoned].
type Workspace struct {
	dir       string
	private   *privatedir.Dir
	runner    *os.Root // where the files of runs are
	artifacts *artifactStore
	versions  versions
	zygotes   string // what is in the mark of all zygotes

	mu       sync.Mutex // guards the making and removing of directories that resources share
	littered bool       // killed modules may have left something; guarded by mu

	abandoned sync.Mutex // guards alone
	alone     bool       // what killed operators left beside it has been ended
}

// SharedName is the name of the workspace in the directory for temporary files. Those that had to evade are called
// SharedName-*.
const SharedName = "ansible-operator"

// Names of directories on the way to artifacts.
const (
	runnerName    = "runner"
	artifactsName = "artifacts"
)

// DefaultArtifactBytes is a good budget for the artifacts of all runs.
const DefaultArtifactBytes = 256 << 20

// OpenWorkspace opens the workspace in dir, which is made if need be. At most artifactBytes of disk are used for
// artifacts; zero keeps none. With an empty dir it is "ansible-operator" in the directory for temporary files, or,
// where that belongs to someone else, a new directory that goes away with Close.
func OpenWorkspace(dir string, artifactBytes int64) (*Workspace, error) {
	private, err := privatedir.Take(dir, SharedName)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	w := &Workspace{dir: private.Path(), private: private}
	if err := w.prepare(artifactBytes); err != nil {
		return nil, errors.Join(fmt.Errorf("open workspace %s: %w", w.dir, err), w.Close())
	}
	return w, nil
}

func (w *Workspace) prepare(artifactBytes int64) error {
	removeTree(w.tempDir())
	for _, dir := range []string{w.runnerDir(), w.runningDir(), w.asyncDir(), w.tempDir()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	var err error
	if w.runner, err = os.OpenRoot(w.runnerDir()); err != nil {
		return err
	}
	if err := w.clearInterrupted(); err != nil {
		return err
	}
	if err := w.makeZygotesDir(); err != nil {
		return err
	}
	if err := installPlugins(w.dir); err != nil {
		return err
	}
	w.artifacts, err = openArtifacts(w.runnerDir(), artifactBytes, w.prune)
	return err
}

// Close gives the workspace up. No run may be under way.
func (w *Workspace) Close() error {
	removeTree(w.tempDir())
	var err error
	if w.runner != nil {
		err = w.runner.Close()
	}
	if err = errors.Join(err, w.private.Release()); err != nil {
		return fmt.Errorf("close workspace %s: %w", w.dir, err)
	}
	return nil
}

// modulePayload matches what a module that is killed leaves in the directory for temporary files.
const modulePayload = "ansible_*_payload_*"

// sweep removes what the modules of runs that were killed have left. That directory is shared, so only what is older
// than all runs under way is known to be of no use; the rest waits for one of the next calls.
func (w *Workspace) sweep(abandoned bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.littered = w.littered || abandoned; !w.littered {
		return
	}
	oldest := w.oldestRun()
	left, _ := filepath.Glob(filepath.Join(w.tempDir(), modulePayload))
	w.littered = false
	for _, path := range left {
		info, err := os.Lstat(path)
		if err == nil && info.ModTime().After(oldest) {
			w.littered = true
			continue
		}
		removeTree(path)
	}
}

// oldestRun returns when the oldest of the runs under way has begun; a time to come if there is none.
func (w *Workspace) oldestRun() time.Time {
	oldest := time.Now().Add(time.Hour)
	entries, _ := os.ReadDir(w.runningDir())
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.ModTime().Before(oldest) {
			oldest = info.ModTime()
		}
	}
	return oldest
}

// removeTree removes a directory, also where a task has taken the rights off parts of it.
func removeTree(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // a directory needs the x
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

// Dir is the path of the workspace.
func (w *Workspace) Dir() string { return w.dir }

// Forget removes all that is kept of a resource, for when it is gone. No run of it may be under way.
func (w *Workspace) Forget(owner engine.Owner) {
	w.artifacts.forget(resourcePath(owner))
}

func (w *Workspace) runnerDir() string      { return filepath.Join(w.dir, runnerName) }
func (w *Workspace) runningDir() string     { return filepath.Join(w.dir, "running") }
func (w *Workspace) asyncDir() string       { return filepath.Join(w.dir, "async") }
func (w *Workspace) tempDir() string        { return filepath.Join(w.dir, "tmp") }
func (w *Workspace) callbackDir() string    { return filepath.Join(w.dir, "python", "callback") }
func (w *Workspace) collectionsDir() string { return filepath.Join(w.dir, "python", "collections") }

// prune removes directories on the way to a resource that have become empty.
func (w *Workspace) prune(resource string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path := resource; path != "."; path = filepath.Dir(path) {
		if os.Remove(filepath.Join(w.runnerDir(), path)) != nil {
			return // not empty
		}
	}
}

// ArtifactPath is where the artifacts of a run are, relative to the workspace.
func ArtifactPath(owner engine.Owner, run string) string {
	return filepath.Join(runnerName, resourcePath(owner), artifactsName, segment(run))
}

// resourcePath is where the files of a resource are, relative to the runner directory.
func resourcePath(owner engine.Owner) string {
	group, version, found := strings.Cut(owner.APIVersion, "/")
	if !found {
		group, version = "", owner.APIVersion
	}
	var path []string
	for _, part := range []string{group, version, owner.Kind, owner.Namespace, owner.Name} {
		if part != "" {
			path = append(path, segment(part))
		}
	}
	return filepath.Join(path...)
}

const plainBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// segment returns name as the name of one file: what could lead elsewhere is written as %XX, and what the file
// system would refuse as too long ends in a digest.
func segment(name string) string {
	const limit = 255
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		plain := strings.IndexByte(plainBytes, c) >= 0 && (c != '.' || i > 0) // neither "." nor ".." nor hidden
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() > limit {
		return fmt.Sprintf("%s-%x", b.String()[:limit-65], sha256.Sum256([]byte(name)))
	}
	return b.String()
}
