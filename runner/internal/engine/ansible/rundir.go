package ansible

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// runDir are the private files of one run, in the directory of its resource:
//
//	env/kubeconfig     if the job has one
//	env/extravars      the run's variables, if the executor needs a file
//	env/vault-password if the job has one and the executor needs a file
//	inventory/hosts    if the user has no inventory
//	project/           the working directory; for a role it holds the play around it
//	tmp/               Ansible's temporary files
//	spool/             what ansible-runner writes, if it is in use
//
// All of it goes away with close. Only the artifacts beside it stay.
type runDir struct {
	workspace     *Workspace
	resource      string // relative to the runner directory
	note          string // says where the files are, should the operator be killed
	id            string // of the run
	hasKubeconfig bool
	vars          []byte // extra vars as JSON
	vault         []byte // vault password; nil for none
	abandoned     bool   // the run was ended, or killed, and could not clean up
}

// What each run has, and what is wiped after it.
var (
	privateParts = []string{"env", "inventory", "project", "tmp"}
	wipedParts   = append([]string{spoolDir}, privateParts...)
)

// openRun makes the directory with the files that do not depend on the content.
func (w *Workspace) openRun(job engine.Job) (*runDir, error) {
	d := &runDir{
		workspace:     w,
		resource:      resourcePath(job.Owner),
		note:          filepath.Join(w.runningDir(), segment(job.ID)),
		id:            job.ID,
		hasKubeconfig: job.Kubeconfig != nil,
		vault:         job.VaultPassword,
	}
	if err := w.endAbandoned(); err != nil {
		return nil, err
	}
	var err error
	if d.vars, err = extraVars(job.Inputs); err != nil {
		return nil, err
	}
	if err := d.fill(job.Kubeconfig); err != nil {
		d.close()
		return nil, fmt.Errorf("make the files of the run: %w", err)
	}
	return d, nil
}

// extraVars returns the variables as JSON, which is what lets Ansible see the marks of unsafe strings in them.
func extraVars(inputs map[string]any) ([]byte, error) {
	if inputs == nil {
		return []byte("{}"), nil
	}
	vars, err := json.Marshal(inputs)
	if err != nil {
		return nil, fmt.Errorf("encode the extra vars: %w", err)
	}
	return vars, nil
}

func (d *runDir) fill(kubeconfig []byte) error {
	if err := os.WriteFile(d.note, []byte(d.resource), 0o600); err != nil {
		return err
	}
	d.workspace.wipe(d.resource) // what a run left that could not be ended properly
	d.workspace.mu.Lock()
	err := os.MkdirAll(d.path(), 0o700)
	for _, part := range privateParts {
		if err == nil {
			err = os.Mkdir(d.path(part), 0o700)
		}
	}
	d.workspace.mu.Unlock()
	if err != nil {
		return err
	}
	if d.hasKubeconfig {
		return os.WriteFile(d.kubeconfig(), kubeconfig, 0o600)
	}
	return nil
}

func (d *runDir) writeExtraVars() error {
	if err := os.WriteFile(d.extraVars(), d.vars, 0o600); err != nil {
		return fmt.Errorf("write the extra vars: %w", err)
	}
	return nil
}

func (d *runDir) writeVaultPassword() error {
	if err := os.WriteFile(d.vaultPassword(), d.vault, 0o600); err != nil {
		return fmt.Errorf("write the vault password: %w", err)
	}
	return nil
}

// writeInventory writes the inventory and returns its path.
func (d *runDir) writeInventory(text string) (string, error) {
	if err := os.WriteFile(d.path("inventory", "hosts"), []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write the inventory: %w", err)
	}
	return d.path("inventory"), nil
}

func (d *runDir) path(below ...string) string {
	return filepath.Join(append([]string{d.workspace.runnerDir(), d.resource}, below...)...)
}

func (d *runDir) extraVars() string     { return d.path("env", "extravars") }
func (d *runDir) kubeconfig() string    { return d.path("env", "kubeconfig") }
func (d *runDir) vaultPassword() string { return d.path("env", "vault-password") }
func (d *runDir) project() string       { return d.path("project") }
func (d *runDir) temp() string          { return d.path("tmp") }
func (d *runDir) hasVault() bool        { return d.vault != nil }

// mark is what the run's processes are found by.
func (d *runDir) mark() string { return runVariable + "=" + d.id }

// close removes the files.
func (d *runDir) close() {
	d.workspace.wipe(d.resource)
	d.workspace.prune(d.resource)
	_ = os.Remove(d.note)
	d.workspace.sweep(d.abandoned)
}

// wipe removes the private parts of a resource's directory. A task may have taken rights off its own directories;
// they are given back and the removal tried once more.
func (w *Workspace) wipe(resource string) {
	dir, err := w.runner.OpenRoot(resource)
	if err != nil {
		return // there is nothing of it
	}
	defer func() { _ = dir.Close() }()
	for _, part := range wipedParts {
		if dir.RemoveAll(part) == nil {
			continue
		}
		_ = fs.WalkDir(dir.FS(), part, func(path string, entry fs.DirEntry, _ error) error {
			if entry != nil && entry.IsDir() {
				_ = dir.Chmod(path, 0o700)
			}
			return nil
		})
		_ = dir.RemoveAll(part)
	}
}
