package ansible

import (
	"crypto/rand"
	"os"
	"path/filepath"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible/warm"
)

func (w *Workspace) zygotesDir() string { return filepath.Join(w.dir, "zygotes") }

// zygotesID is the file that tells those who come after a killed operator what its zygotes carry as their mark.
func (w *Workspace) zygotesID() string { return filepath.Join(w.zygotesDir(), "id") }

// makeZygotesDir makes an empty directory for the zygotes of this process.
func (w *Workspace) makeZygotesDir() error {
	removeTree(w.zygotesDir())
	if err := os.Mkdir(w.zygotesDir(), 0o700); err != nil {
		return err
	}
	w.zygotes = "zygote-" + rand.Text()
	return os.WriteFile(w.zygotesID(), []byte(w.zygotes), 0o600)
}

// zygoteMarks returns the mark of the zygotes that a former process of the workspace may have left.
func (w *Workspace) zygoteMarks() []string {
	id, err := os.ReadFile(w.zygotesID())
	if err != nil || len(id) == 0 {
		return nil // it never came to start one
	}
	return []string{warm.Mark(string(id))}
}

// NewPool returns a pool of zygotes that keep their files in the workspace; notify is told what it does, see [warm.Config].
// It has to be closed before the workspace, and after the runs.
func (w *Workspace) NewPool(notify func(warm.Notice)) *warm.Pool {
	return warm.New(w.poolConfig(notify))
}

func (w *Workspace) poolConfig(notify func(warm.Notice)) warm.Config {
	return warm.Config{
		Script: filepath.Join(w.dir, "python", "warm", "start.py"),
		Dir:    w.zygotesDir(),
		Mark:   warm.Mark(w.zygotes),
		Notify: notify,
	}
}

// Ahead has a process started that runs of this engine can be forked from, if the executor is warm. env is what jobs will
// have. It does not wait.
func (e *Engine) Ahead(env map[string]string) {
	if e.cfg.Executor != Warm {
		return
	}
	binary, err := e.cfg.LookPath(program)
	if err != nil {
		return // readiness says so
	}
	dir := &runDir{workspace: e.cfg.Workspace, resource: "ahead", id: "ahead"} // of which only paths are used
	for _, mode := range []engine.Mode{engine.Reconcile, engine.Finalize} {
		content := e.content(mode)
		job := engine.Job{Mode: mode, Env: env}
		e.cfg.Zygotes.Ahead(warm.Request{
			Program: binary, Env: e.playEnvironment(job, e.baseEnvironment(job), content, dir).entries(), Mark: dir.mark(),
			Preload: e.cfg.Preload, Adjacent: adjacentNamespaces(content.Playbook),
		})
	}
}

// adjacentNamespaces returns the namespaces of the collections beside a playbook, which come before all others. A role has
// a play of its own, with nothing beside it.
func adjacentNamespaces(playbook string) (names []string) {
	if playbook == "" {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(filepath.Dir(playbook), "collections", "ansible_collections"))
	if err != nil {
		return nil // mostly, there are none
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
