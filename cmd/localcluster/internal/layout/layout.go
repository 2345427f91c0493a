// Package layout knows what is in the directory of a cluster.
package layout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The files of a cluster, relative to its directory. Components run with the directory as their working directory, so
// these names also stand on their command lines.
const (
	Marker     = ".localcluster"
	Kubeconfig = "kubeconfig"
	State      = "state"
	Logs       = "logs"
	PKI        = "pki"
	Conf       = "conf"
	Etcd       = "etcd"
	Tmp        = "tmp"

	stateTemp = ".state.tmp"
)

// volatile lists what one run of a cluster leaves behind; the marker outlives it because it carries the lock.
var volatile = []string{Kubeconfig, State, stateTemp, Logs, PKI, Conf, Etcd, Tmp}

// Dir is the absolute path of a cluster's directory.
type Dir string

// At gives the path its one true form, absolute and without symbolic links, for it is compared with the command lines
// of processes. What does not exist yet has no links.
func At(path string) (Dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("cannot make the path %s absolute: %w", path, err)
	}
	rest := ""
	for base := abs; ; base = filepath.Dir(base) {
		resolved, err := filepath.EvalSymlinks(base)
		if err == nil || base == filepath.Dir(base) {
			return Dir(filepath.Join(resolved, rest)), nil
		}
		rest = filepath.Join(filepath.Base(base), rest)
	}
}

// Path is the absolute path of one of the files.
func (d Dir) Path(name ...string) string {
	return filepath.Join(append([]string{string(d)}, name...)...)
}

// Log is the log file of one component.
func (d Dir) Log(component string) string {
	return d.Path(Logs, component+".log")
}

// Prepare removes what an earlier run left and makes the folders of a new one.
func (d Dir) Prepare() error {
	if err := d.clear(); err != nil {
		return err
	}
	for _, name := range []string{Logs, PKI, Conf, Etcd, Tmp} {
		if err := os.Mkdir(d.Path(name), 0o700); err != nil {
			return fmt.Errorf("cannot create a folder of the cluster: %w", err)
		}
	}
	return nil
}

// Remove takes away every file of ours, and the directory itself if nothing else is in it.
func (d Dir) Remove() error {
	if err := d.clear(); err != nil {
		return err
	}
	if err := os.Remove(d.Path(Marker)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove the marker of the cluster: %w", err)
	}
	// Files of others stay, and so does the directory that holds them.
	err := os.Remove(string(d))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return fmt.Errorf("cannot remove the directory of the cluster: %w", err)
	}
	return nil
}

func (d Dir) clear() error {
	for _, name := range volatile {
		if err := os.RemoveAll(d.Path(name)); err != nil {
			return fmt.Errorf("cannot remove what an earlier cluster left: %w", err)
		}
	}
	return nil
}
