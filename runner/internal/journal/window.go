package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// socketName is the name of the socket beside the records.
const socketName = "live"

// Limits of one answer.
const (
	answerTimeout = 10 * time.Second
	maxAnswer     = 64 << 20 // bytes
	maxHeader     = 4 << 10  // bytes
)

// Live is what the living operator knows.
type Live struct {
	Format  int       `json:"format"`  // version of this type and of [Record]
	Since   time.Time `json:"since"`   // when the operator began
	Leading bool      `json:"leading"` // it runs things; else another replica does
	Keeps   bool      `json:"keeps"`   // it keeps records of runs
	// Queue holds the runs that wait or are planned.
	Queue []Record `json:"queue"`
}

// Window is a socket on which the operator tells what it knows to whoever asks. Only processes of the same user get to it.
type Window struct {
	listener *net.UnixListener
	look     func() Live
	dir      *os.File // keeps the path of the socket valid
}

// OpenWindow opens the socket in a private directory, for which no other process has one. look is asked for each answer.
func OpenWindow(private string, look func() Live) (*Window, error) {
	dir := filepath.Join(private, subdirectory)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a socket to tell what runs: %w", err)
	}
	if err := os.Remove(filepath.Join(dir, socketName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove the socket of an operator that is gone: %w", err)
	}
	address, held, err := socketIn(dir)
	if err != nil {
		return nil, err
	}
	w := &Window{look: look, dir: held}
	if w.listener, err = net.ListenUnix("unix", address); err == nil {
		err = os.Chmod(filepath.Join(dir, socketName), 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a socket to tell what runs: %w", err), held.Close())
	}
	return w, nil
}

// socketIn returns the address of the socket in a directory, which is valid while the directory is held open. The kernel takes
// short paths only; that of an open directory is short.
func socketIn(dir string) (*net.UnixAddr, *os.File, error) {
	held, err := os.Open(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("open the directory of the socket: %w", err)
	}
	path := filepath.Join(dir, socketName)
	if short := fmt.Sprintf("/proc/self/fd/%d", held.Fd()); isDir(short) {
		path = filepath.Join(short, socketName)
	}
	return &net.UnixAddr{Name: path, Net: "unix"}, held, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Start answers until ctx is done. [Window.Close] is still to be called.
func (w *Window) Start(ctx context.Context) error {
	server := &http.Server{Handler: w, ReadTimeout: answerTimeout, WriteTimeout: answerTimeout, MaxHeaderBytes: maxHeader}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(w.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("tell what runs: %w", err)
	}
	return nil
}

// Close removes the socket. A nil Window has none.
func (w *Window) Close() error {
	if w == nil {
		return nil
	}
	err := w.listener.Close()
	if errors.Is(err, net.ErrClosed) { // Start has closed it
		err = nil
	}
	return errors.Join(err, w.dir.Close()) // last: the path of the socket leads through it
}

// ServeHTTP implements [http.Handler]. It tells everything, whatever the request is.
func (w *Window) ServeHTTP(response http.ResponseWriter, _ *http.Request) {
	live := w.look()
	live.Format = format
	response.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(response).Encode(live) //nolint:errchkjson // whoever asked may have gone
}
