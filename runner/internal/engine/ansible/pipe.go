package ansible

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// eventPipe is a named pipe by which events come where a child cannot inherit a descriptor.
type eventPipe struct {
	reader *os.File
	writer *os.File // of this process: keeps the reader from seeing the end before the play has opened the pipe
	done   chan struct{}
}

// pipeDrain is how long is waited for the end of the pipe when the program has ended. Only a descendant that has
// it open keeps it from ending.
const pipeDrain = time.Second

// openPipe makes a named pipe and copies what comes out of it to a writer, until close.
func openPipe(path string, to io.Writer) (*eventPipe, error) {
	p := &eventPipe{done: make(chan struct{})}
	err := unix.Mkfifo(path, 0o600)
	if err == nil {
		p.reader, err = os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // else it would wait for someone to write
	}
	if err == nil {
		p.writer, err = os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0)
	}
	if err != nil {
		if p.reader != nil {
			_ = p.reader.Close()
		}
		return nil, fmt.Errorf("make the pipe for events: %w", err)
	}
	go func() {
		defer close(p.done)
		_, _ = io.Copy(to, p.reader)
	}()
	return p, nil
}

// close returns when all that was written has been copied.
func (p *eventPipe) close() {
	_ = p.writer.Close()
	_ = p.reader.SetReadDeadline(time.Now().Add(pipeDrain))
	<-p.done
	_ = p.reader.Close()
}
