package layout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// markerText tells our directories from those of others before anything is removed from them.
const markerText = "localcluster 1\n"

// What Create and Existing may find instead of a free directory.
var (
	ErrBusy    = errors.New("a cluster runs here")
	ErrForeign = errors.New("not the directory of a local cluster")
	ErrNone    = errors.New("no cluster here")
)

// Lock is held by the supervisor of a cluster as long as it lives. The kernel frees it however the supervisor ends,
// so a lock that can be taken proves that no supervisor is left.
type Lock struct {
	file *os.File
}

// Create takes the lock of a directory, which is made if needed. It refuses a directory with files of others.
func Create(d Dir) (*Lock, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(d.Path(Marker)); err != nil && len(entries) > 0 {
		return nil, ErrForeign
	}
	return open(d, os.O_RDWR|os.O_CREATE)
}

// Existing takes the lock of a directory that already holds a cluster.
func Existing(d Dir) (*Lock, error) {
	lock, err := open(d, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) && empty(d) {
		return nil, ErrNone
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, ErrForeign
	}
	return lock, err
}

// empty tells whether the directory is missing or holds nothing.
func empty(d Dir) bool {
	entries, err := os.ReadDir(string(d))
	return errors.Is(err, fs.ErrNotExist) || (err == nil && len(entries) == 0)
}

// Inherited is the lock that a parent process took and passed on as an open file.
func Inherited(fd uintptr) *Lock {
	syscall.CloseOnExec(int(fd))
	return &Lock{file: os.NewFile(fd, Marker)}
}

// File is handed to a child process that shall hold the lock.
func (l *Lock) File() *os.File { return l.file }

// Release frees the lock unless a child process holds it too.
func (l *Lock) Release() { _ = l.file.Close() }

func open(d Dir, flags int) (*Lock, error) {
	for {
		file, err := os.OpenFile(d.Path(Marker), flags, 0o600)
		if err != nil {
			return nil, err
		}
		lock, err := take(d, file)
		if err != nil {
			_ = file.Close()
		}
		if !errors.Is(err, errReplaced) {
			return lock, err
		}
	}
}

// errReplaced: the marker was removed by a `down` between opening and locking it; the lock would guard nothing.
var errReplaced = errors.New("marker was replaced")

func take(d Dir, file *os.File) (*Lock, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("cannot lock %s: %w", file.Name(), err)
	}
	opened, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if found, err := os.Lstat(d.Path(Marker)); err != nil || !os.SameFile(opened, found) {
		return nil, errReplaced
	}
	return mark(file, opened.Size())
}

// mark signs a new marker and checks the signature of an old one.
func mark(file *os.File, size int64) (*Lock, error) {
	if size == 0 {
		if _, err := file.WriteAt([]byte(markerText), 0); err != nil {
			return nil, fmt.Errorf("cannot write %s: %w", file.Name(), err)
		}
		return &Lock{file: file}, nil
	}
	text := make([]byte, len(markerText))
	if _, err := file.ReadAt(text, 0); err != nil || string(text) != markerText {
		return nil, ErrForeign
	}
	return &Lock{file: file}, nil
}
