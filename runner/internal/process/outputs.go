package process

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Outputs are pipes between a program and the writers that its output goes to.
type Outputs struct {
	targets []io.Writer // nil where output is discarded
	readers []*os.File  // parallel to targets; nil where there is no pipe
	writers []*os.File
	done    chan struct{} // closed when all has been copied
}

// OpenOutputs makes a pipe to each writer; nil discards output and has none. Each writer is written to by one goroutine.
// [Outputs.Begin] has to be called.
func OpenOutputs(targets ...io.Writer) (*Outputs, error) {
	o := &Outputs{targets: targets, done: make(chan struct{})}
	for _, target := range o.targets {
		var r, w *os.File
		if target != nil {
			var err error
			if r, w, err = os.Pipe(); err != nil {
				o.close(o.readers)
				o.close(o.writers)
				return nil, fmt.Errorf("make a pipe for its output: %w", err)
			}
		}
		o.readers, o.writers = append(o.readers, r), append(o.writers, w)
	}
	return o, nil
}

// file returns the writing end of output i as os/exec wants it: a nil interface means /dev/null.
func (o *Outputs) file(i int) io.Writer {
	if o.writers[i] == nil {
		return nil
	}
	return o.writers[i]
}

// Writers returns the writing ends, in the order of the targets; nil where output is discarded. They are for the program
// and closed by Begin.
func (o *Outputs) Writers() []*os.File { return o.writers }

// Begin gives the writing ends up, which are the child's alone from now on, and starts copying. Without a child
// there is nothing to copy.
func (o *Outputs) Begin(started bool) {
	o.close(o.writers)
	if !started {
		o.close(o.readers)
		return
	}
	var copies sync.WaitGroup
	for i, r := range o.readers {
		if r != nil {
			copies.Go(func() { pump(o.targets[i], r) })
		}
	}
	go func() {
		copies.Wait()
		close(o.done)
	}()
}

// pump copies until the end of r. It goes on reading after w has failed, so that the child never blocks.
func pump(w io.Writer, r io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := r.Read(buffer)
		if n > 0 && w != nil {
			if _, failed := w.Write(buffer[:n]); failed != nil {
				w = nil
			}
		}
		if err != nil {
			return
		}
	}
}

// drain waits until all output has been copied, at most for the given time once the program has ended, and
// reports whether it had to cut it short. Nothing is written to a target after drain has returned.
func (o *Outputs) drain(clk clock.Clock, limit time.Duration) (cut bool) {
	timer := clk.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-o.done:
	case <-timer.C():
		cut = true
	}
	o.close(o.readers) // ends a pump that still waits for a descendant
	<-o.done
	return cut
}

func (*Outputs) close(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
