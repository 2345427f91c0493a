package runner

import (
	"bytes"
	"io"

	"github.com/go-logr/logr"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// playOutput returns a writer that puts what a playbook prints into the log, as ANSIBLE_DEBUG_LOGS asks for.
func (e *engines) playOutput(job engine.Job) io.Writer {
	return &playOutput{log: e.options.Log.WithName("ansible").WithValues("kind", job.Owner.Kind, "namespace",
		job.Owner.Namespace, "name", job.Owner.Name, "run", job.ID)}
}

// maxOutputEntry is how many bytes of output one entry of the log holds, about: what collects logs may cut longer ones.
// Single lines are not worth an entry each; the log leaves out entries when there are too many.
const maxOutputEntry = 8 << 10

// playOutput logs the lines that are written to it.
type playOutput struct {
	log     logr.Logger
	pending []byte
}

// Write implements [io.Writer]; it never fails.
func (p *playOutput) Write(text []byte) (int, error) {
	n := len(text)
	for len(text) > 0 {
		part := text[:min(len(text), maxOutputEntry)]
		p.pending, text = append(p.pending, part...), text[len(part):]
		if len(p.pending) >= maxOutputEntry {
			p.entry()
		}
	}
	return n, nil
}

// entry logs the whole lines that have come, or all if the first one is not whole.
func (p *playOutput) entry() {
	end := bytes.LastIndexByte(p.pending, '\n') + 1
	if end == 0 {
		end = len(p.pending)
	}
	p.put(p.pending[:end])
	p.pending = append(p.pending[:0], p.pending[end:]...)
}

// Close implements [io.Closer]: it logs what is left.
func (p *playOutput) Close() error {
	p.put(p.pending)
	p.pending = nil
	return nil
}

func (p *playOutput) put(text []byte) {
	var lines []string
	for line := range bytes.Lines(text) {
		lines = append(lines, string(bytes.TrimRight(line, "\r\n")))
	}
	if len(lines) > 0 {
		p.log.Info("Output", "lines", lines)
	}
}
