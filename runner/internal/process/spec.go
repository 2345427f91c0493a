package process

import (
	"context"
	"io"
	"os"
	"syscall"
	"time"
)

// Runner runs a program to its end.
type Runner interface {
	// Run starts the program and returns when it, and all that writes to its output, is done. When ctx ends
	// first, the program is told to stop as Spec.Stop says, and Exit.Stopped is true. The error is non-nil
	// only when the program could not be started.
	Run(ctx context.Context, spec Spec) (Exit, error)
}

// RunnerFunc is a function that is a [Runner].
type RunnerFunc func(ctx context.Context, spec Spec) (Exit, error)

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context, spec Spec) (Exit, error) { return f(ctx, spec) }

// Spec says what to run.
type Spec struct {
	// Path is the program's file.
	Path string
	// Args are its arguments, without the program's name.
	Args []string
	// Env is its whole environment; nothing is inherited.
	Env []string
	// Dir is its working directory; empty means that of this process.
	Dir string
	// Stdout and Stderr receive its output, each from one goroutine; nil discards it. Standard input is empty.
	// An error of a writer ends the writing, not the program.
	Stdout, Stderr io.Writer
	// Extra receive what it writes to the descriptors 3, 4 and so on.
	Extra []io.Writer
	// Inherit are files that the program gets as the descriptors after those of Extra.
	Inherit []*os.File
	// Independent says that the program looks after what it starts, and notices by itself when this process is gone. It is
	// not killed with this process, and when the context ends it alone is killed, at once; Mark and Stop mean nothing then.
	Independent bool
	// Started, if set, is told the program's process id, which stays its own until Run returns.
	Started func(pid int)
	// Mark, like RUN=42, is put into the environment. Descendants that left the process group are found by it
	// when the program has to be stopped. Empty finds only those whose chain of parents is intact.
	Mark string
	// Orphaned, if set, is asked once the program has ended by itself, and reports whether it has lost what it was to look
	// after: then all that is left of it is ended, as when a signal has ended the program itself.
	Orphaned func() bool
	// Stop says how long the program may take to end once it is told to.
	Stop Ladder
	// Drain is how long output is still read after the program has ended, when a descendant keeps the
	// descriptor open. Default 1 s.
	Drain time.Duration
}

// Ladder is the way from asking to forcing: SIGINT, then SIGTERM, then SIGKILL to the whole process group and
// to the descendants that left it.
type Ladder struct {
	Interrupt time.Duration // from SIGINT to SIGTERM; default 2 s
	Terminate time.Duration // from SIGTERM to SIGKILL; default 2 s
}

// Exit is how a program ended.
type Exit struct {
	// Code is the exit code, or -1 if a signal ended the program.
	Code int
	// Signal is the signal that ended the program, zero if none did.
	Signal syscall.Signal
	// Stopped says that the context ended before the program did.
	Stopped bool
	// Cut says that a descendant kept an output open beyond the drain time, so that output may be incomplete.
	Cut bool
	// CPU is the time that the program and its awaited children spent on processors.
	CPU time.Duration
	// MaxRSS is the largest resident memory of the program or of one of its awaited children, in bytes.
	MaxRSS int64
}

const (
	defaultGrace = 2 * time.Second
	defaultDrain = time.Second
)

func (s Spec) withDefaults() Spec {
	if s.Stop.Interrupt <= 0 {
		s.Stop.Interrupt = defaultGrace
	}
	if s.Stop.Terminate <= 0 {
		s.Stop.Terminate = defaultGrace
	}
	if s.Drain <= 0 {
		s.Drain = defaultDrain
	}
	return s
}
