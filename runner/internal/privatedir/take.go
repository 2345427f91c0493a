package privatedir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrBusy says that another process uses a directory.
var ErrBusy = errors.New("another process uses it")

// Dir is a directory that this process has taken.
type Dir struct {
	path      string
	name      string // of directories like this one; empty if the place was chosen for this one
	temporary bool   // made for this process alone
	lock      *os.File
}

// Take takes the directory path, which is made if need be. With an empty path it is name in the directory for temporary
// files, or, where that belongs to someone else, a new directory name-* beside it, which goes away with Release.
func Take(path, name string) (*Dir, error) {
	if path != "" {
		absolute, err := filepath.Abs(path)
		d := &Dir{path: absolute}
		if err == nil {
			err = d.take()
		}
		if err != nil {
			return nil, fmt.Errorf("take the private directory %s: %w", path, err)
		}
		return d, nil
	}
	temp, err := tempDir()
	if err != nil {
		return nil, err
	}
	d := &Dir{path: filepath.Join(temp, name), name: name}
	if d.take() == nil {
		return d, nil
	}
	d.temporary = true
	if d.path, err = os.MkdirTemp(temp, name+"-"); err == nil {
		err = d.take()
	}
	if err != nil {
		return nil, fmt.Errorf("make a private directory in %s: %w; set TMPDIR to a directory that this user can write to", temp, err)
	}
	return d, nil
}

// TakeOver takes a directory whose process is gone. It does not take one that is used, that belongs to another user or
// that nobody ever took.
func TakeOver(path string) (*Dir, bool) {
	if !Own(path) {
		return nil, false
	}
	lock, err := hold(path, 0)
	return &Dir{path: path, lock: lock}, err == nil
}

// tempDir returns the absolute path of the directory for temporary files, which is made if need be.
func tempDir() (string, error) {
	dir, err := filepath.Abs(os.TempDir())
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("open the directory for temporary files, which the environment variable TMPDIR names: %w", err)
	}
	return dir, nil
}

func (d *Dir) take() error {
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return err
	}
	if !Own(d.path) {
		return errors.New("it is not a directory of this user")
	}
	err := os.Chmod(d.path, 0o700) //nolint:gosec // a directory needs the x
	if err == nil {
		d.lock, err = hold(d.path, os.O_CREATE)
	}
	return err
}

// hold takes the lock of a directory. The kernel gives it back when the process ends, however that happens.
func hold(dir string, flags int) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), flags|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, ErrBusy
	}
	return lock, nil
}

// Path is the absolute path of the directory.
func (d *Dir) Path() string { return d.path }

// Unlock gives the directory up and removes nothing, as the kernel does when the process is killed.
func (d *Dir) Unlock() error { return d.lock.Close() }

// Release gives the directory up, and removes it if it was made for this process alone.
func (d *Dir) Release() error {
	err := d.Unlock()
	if d.temporary {
		err = errors.Join(err, os.RemoveAll(d.path))
	}
	return err
}

// Own reports whether a path is a directory, not a link to one, of this user.
func Own(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid()
}
