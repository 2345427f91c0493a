package ansible

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// What one run may leave behind; see also the budget of the whole store.
const (
	maxOutputHead = 1 << 20   // bytes of standard output kept from its beginning
	maxOutputTail = 256 << 10 // and from its end
	maxEventFiles = 2000
)

// artifact is what one run leaves behind:
//
//	artifacts/<run>/stdout, stderr    what ansible-playbook printed, the middle of very long output left out
//	artifacts/<run>/rc                its exit code
//	artifacts/<run>/status            running, successful, failed, timeout, canceled
//	artifacts/<run>/executor          what ran it: warm, direct or runner; behind that, why not what was asked for
//	artifacts/<run>/job_events/       one file per event
//	artifacts/latest                  link to the newest run
//
// A nil artifact keeps nothing. That a file cannot be written is no error of the run: the rest is left out.
type artifact struct {
	store    *artifactStore
	resource string
	id       string
	open     bool  // the run has not ended; guarded by the store
	size     int64 // bytes on disk; guarded by the store

	events int
}

func (a *artifact) dir() string { return filepath.Join(a.store.root, a.resource, artifactsName) }

func (a *artifact) path(below ...string) string {
	return filepath.Join(append([]string{a.dir(), a.id}, below...)...)
}

// create makes the directories. The store is locked.
func (a *artifact) create() error {
	if err := os.MkdirAll(a.path("job_events"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(a.path(statusFile), []byte("running"), 0o600); err != nil {
		return err
	}
	link := filepath.Join(a.dir(), ".latest")
	_ = os.Remove(link)
	if err := os.Symlink(a.id, link); err != nil {
		return err
	}
	return os.Rename(link, filepath.Join(a.dir(), "latest"))
}

// reserve reports whether n more bytes may be written.
func (a *artifact) reserve(n int64) bool {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	return a.store.take(a, n)
}

// event keeps the line of one event; nil is none.
func (a *artifact) event(counter int, uuid string, line []byte) {
	if a == nil || line == nil || a.events >= maxEventFiles || !a.reserve(onDisk(int64(len(line)))) {
		return
	}
	a.events++
	name := fmt.Sprintf("%d-%s.json", counter, segment(uuid))
	_ = os.WriteFile(a.path("job_events", name), line, 0o600)
}

// ran writes which way the run took.
func (a *artifact) ran(by Executor, fallback string) {
	if a != nil && by != "" {
		a.write("executor", strings.TrimSpace(string(by)+" "+fallback))
	}
}

// finish writes how the run ended. The artifacts may go when room is needed from now on.
func (a *artifact) finish(status string, code int, stderr string) {
	if a == nil {
		return
	}
	_ = os.WriteFile(a.path(statusFile), []byte(status), 0o600)
	a.write("rc", strconv.Itoa(code))
	if stderr != "" {
		a.write("stderr", stderr)
	}
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	a.open = false
}

// redact takes out of a file what became known as a secret after it was written, or has several lines.
func (a *artifact) redact(name string, hide redactor) {
	if a == nil || hide == nil {
		return
	}
	text, err := os.ReadFile(a.path(name))
	if err != nil {
		return
	}
	if clean := hide(string(text)); clean != string(text) {
		_ = os.WriteFile(a.path(name), []byte(clean[:min(len(clean), len(text))]), 0o600) // the size is accounted for
	}
}

func (a *artifact) write(name, text string) {
	if a.reserve(onDisk(int64(len(text)))) {
		_ = os.WriteFile(a.path(name), []byte(text), 0o600)
	}
}

// outputFile writes the beginning of a run's output to a file as it comes, and its end when it is closed.
type outputFile struct {
	artifact *artifact
	file     *os.File // nil once something went wrong
	size     int64    // written
	reserved int64
	rest     *process.Capture // what comes after the beginning
}

// stdout opens the file for standard output.
func (a *artifact) stdout() *outputFile {
	o := &outputFile{artifact: a, rest: process.NewCapture(0, maxOutputTail)}
	if a != nil {
		o.file, _ = os.OpenFile(a.path("stdout"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	}
	return o
}

// Write implements [io.Writer]; it never fails.
func (o *outputFile) Write(p []byte) (int, error) {
	head := p[:min(len(p), int(maxOutputHead-min(o.size, maxOutputHead)))]
	o.write(head)
	if o.file != nil {
		_, _ = o.rest.Write(p[len(head):])
	}
	return len(p), nil
}

func (o *outputFile) write(p []byte) {
	if o.file == nil || len(p) == 0 {
		return
	}
	if more := onDisk(o.size+int64(len(p))) - o.reserved; more > 0 {
		if !o.artifact.reserve(more) {
			o.stop()
			return
		}
		o.reserved += more
	}
	n, err := o.file.Write(p)
	o.size += int64(n)
	if err != nil {
		o.stop()
	}
}

func (o *outputFile) stop() {
	_ = o.file.Close()
	o.file = nil
}

// close writes the end of the output.
func (o *outputFile) close() {
	if o.rest.Total() > 0 {
		o.write([]byte(o.rest.String()))
	}
	if o.file != nil {
		o.stop()
	}
}
