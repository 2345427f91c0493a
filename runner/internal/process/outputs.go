package process

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// outputs are the pipes between a child and the writers of its Spec: standard output, standard error, extras.
type outputs struct {
	targets []io.Writer // nil where output is discarded
	readers []*os.File  // parallel to targets; nil where there is no pipe
	writers []*os.File
	done    chan struct{} // closed when all has been copied
}

func openOutputs(spec Spec) (*outputs, error) {
	o := &outputs{targets: append([]io.Writer{spec.Stdout, spec.Stderr}, spec.Extra...), done: make(chan struct{})}
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
func (o *outputs) file(i int) io.Writer {
	if o.writers[i] == nil {
		return nil
	}
	return o.writers[i]
}

// begin gives the writing ends up, which are the child's alone from now on, and starts copying. Without a child
// there is nothing to copy.
func (o *outputs) begin(started bool) {
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
func (o *outputs) drain(clk clock.Clock, limit time.Duration) (cut bool) {
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

func (*outputs) close(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
