package process

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Adopted is the child of a child of this process.
type Adopted struct {
	self   relative
	handle *os.File // a pidfd
	gone   chan struct{}
}

// Adopt takes hold of the process pid, which a program has started that [OS.Run] is running as the process parent and that
// does not reap it unasked. The error is [errors.ErrUnsupported] where there are no handles of processes; else the two are not
// what they were taken for. [Adopted.Close] has to be called.
func Adopt(pid, parent int) (*Adopted, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true) // for the runtime's poller
	}
	if err != nil {
		return nil, fmt.Errorf("get a handle of process %d: %w", pid, err)
	}
	a := &Adopted{handle: os.NewFile(uintptr(fd), "pidfd"), gone: make(chan struct{})}
	var found bool
	// The order matters: while parent is our child, nobody else can have its id, hence its child is the one that was meant.
	if a.self, found = readProcess(pid); !found || a.self.parent != parent || !own.has(parent) {
		_ = a.handle.Close()
		return nil, fmt.Errorf("process %d is no child of process %d", pid, parent)
	}
	conn, err := a.handle.SyscallConn()
	if err != nil {
		_ = a.handle.Close()
		return nil, fmt.Errorf("watch process %d: %w", pid, err)
	}
	go func() {
		if conn.Read(hasEnded) == nil {
			close(a.gone)
		}
	}()
	return a, nil
}

// hasEnded reports whether the process of a pidfd has ended.
func hasEnded(fd uintptr) bool {
	events := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} //nolint:gosec // descriptors are small numbers
	n, err := unix.Poll(events, 0)
	return err == nil && n == 1
}

// Gone is closed when the process has ended.
func (a *Adopted) Gone() <-chan struct{} { return a.gone }

// Leader returns the process as one that leads a group, whose end the caller tells of.
func (a *Adopted) Leader(ended <-chan struct{}, killed func() bool) *Leader {
	return &Leader{Ended: ended, Killed: killed, self: a.self}
}

// Close lets go of the process.
func (a *Adopted) Close() { _ = a.handle.Close() }
