package helm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/utils/clock"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// teller reports the steps of a run to the job's Progress.
type teller struct {
	clock     clock.PassiveClock
	namespace string
	progress  func(engine.Event)
	clean     func(string) string

	mu      sync.Mutex
	running string // hook that is being waited for
}

func (t *teller) send(event engine.Event) {
	if t.progress == nil {
		return
	}
	event.Time = t.clock.Now()
	event.Message = t.clean(event.Message)
	if event.Text == "" {
		event.Text = event.Message
	}
	t.progress(event)
}

// begin reports the start of an action on the release.
func (t *teller) begin(task string) {
	t.send(engine.Event{Kind: engine.EventTaskStarted, Task: task})
}

// done reports the end of an action on the release.
func (t *teller) done(task, message string) {
	t.send(engine.Event{Kind: engine.EventOK, Task: task, Changed: true, Message: message})
}

// notef reports something that is worth a line in the log.
func (t *teller) notef(format string, args ...any) {
	t.send(engine.Event{Kind: engine.EventNote, Message: fmt.Sprintf(format, args...)})
}

// object reports what was done to one object.
func (t *teller) object(name, message string) {
	t.send(engine.Event{Kind: engine.EventOK, Task: name, Changed: true, Message: message})
}

// failed reports an object or hook that failed.
func (t *teller) failed(name string, err error, took time.Duration) {
	t.send(engine.Event{Kind: engine.EventFailed, Task: name, Message: err.Error(), Duration: took})
}

// hook reports that a hook has started and returns what reports its end.
func (t *teller) hook(info *resource.Info) func(error) {
	name := "hook " + title(info, t.namespace)
	started := t.clock.Now()
	t.setCurrent(name)
	t.send(engine.Event{Kind: engine.EventTaskStarted, Task: name})
	return func(err error) {
		if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			t.setCurrent("")
		}
		took := t.clock.Since(started)
		if err != nil {
			t.failed(name, err, took)
			return
		}
		t.send(engine.Event{Kind: engine.EventOK, Task: name, Changed: true, Duration: took})
	}
}

// current returns the hook that the run was at when it was ended, or nothing.
func (t *teller) current() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running
}

func (t *teller) setCurrent(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = name
}
