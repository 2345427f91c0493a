package warm

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pair returns the two ends of a socket that no other process can reach: one for this process, one to be given away.
func pair() (*net.UnixConn, *os.File, error) {
	syscall.ForkLock.RLock() // until both ends are closed on exec
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "socket"), os.NewFile(uintptr(fds[1]), "socket")
	conn, err := net.FileConn(ours) // a copy
	_ = ours.Close()
	if err != nil {
		_ = theirs.Close()
		return nil, nil, fmt.Errorf("use a socket: %w", err)
	}
	return conn.(*net.UnixConn), theirs, nil //nolint:forcetypeassert // it was made as one
}

// maxSend bounds how long a message to a zygote may take. It is short and the zygote reads at once, unless it is stuck.
const maxSend = 5 * time.Second

// control is the socket to a zygote.
type control struct {
	conn *net.UnixConn
	mu   sync.Mutex // one message at a time
}

// send sends a message with descriptors. After an error half a message may have been sent, and nothing more can be.
func (c *control) send(message order, files ...*os.File) error {
	line, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, file := range files {
			fds[i] = int(file.Fd()) // this makes them blocking, as programs expect
		}
		rights = unix.UnixRights(fds...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.conn.SetWriteDeadline(time.Now().Add(maxSend)); err != nil {
		return fmt.Errorf("tell the zygote: %w", err)
	}
	line = append(line, '\n')
	n, _, err := c.conn.WriteMsgUnix(line, rights, nil)
	if err == nil && n < len(line) {
		_, err = c.conn.Write(line[n:])
	}
	if err != nil {
		return fmt.Errorf("tell the zygote: %w", err)
	}
	return nil
}
