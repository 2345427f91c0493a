package warm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// run forks a run and looks after it until its end.
func (z *zygote) run(ctx context.Context, r Request) (End, error) {
	out, err := process.OpenOutputs(orDiscard(r.Stdout), orDiscard(r.Stderr), orDiscard(r.Events))
	if err != nil {
		return End{}, fmt.Errorf("start run %s: %w", r.ID, err)
	}
	conn, theirs, err := pair()
	if err != nil {
		out.Begin(false)
		return End{}, fmt.Errorf("start run %s: %w", r.ID, err)
	}
	defer func() { _ = conn.Close() }() // before it has got its task, that is all it takes to end a run
	f, err := z.enlist(r.ID)
	if err != nil {
		_ = theirs.Close()
		out.Begin(false)
		return End{}, &UnavailableError{Refused, err}
	}
	defer z.release(r.ID)
	files := append([]*os.File{theirs}, out.Writers()...)
	err = z.control.send(order{Run: &orderRun{ID: r.ID, Mark: r.Mark}}, append(files, r.Extra...)...)
	_ = theirs.Close()
	adopted, err := z.adopt(ctx, f, err)
	out.Begin(err == nil)
	if err != nil {
		return End{}, err
	}
	defer adopted.Close()
	t := newTalk(conn, r)
	end := z.attend(ctx, r, out, adopted, t, f)
	if err := t.declined(); err != nil {
		return End{}, err
	}
	return end, nil
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// adopt waits for a run to be forked, and takes hold of it.
func (z *zygote) adopt(ctx context.Context, f *fork, sent error) (*process.Adopted, error) {
	if sent != nil {
		z.kill()
		return nil, &UnavailableError{NoResponse, sent}
	}
	limit := z.pool.cfg.Answer
	select {
	case <-z.settled:
	default: // its test has time
		limit = testTimeout
	}
	timer := z.pool.cfg.Clock.NewTimer(limit)
	defer timer.Stop()
	select {
	case m := <-f.answer:
		if m.Refused != nil {
			return nil, &UnavailableError{Refused, errors.New(m.Refused.Message)}
		}
		return z.hold(m.Started.PID)
	case <-z.lost:
		return nil, &UnavailableError{NoResponse, errors.New("the zygote has ended")}
	case <-timer.C():
		z.kill() // it is stuck; what it has forked goes on
		return nil, &UnavailableError{NoResponse, fmt.Errorf("the zygote has not answered within %s", limit)}
	case <-ctx.Done():
		return nil, fmt.Errorf("start a run: %w", ctx.Err())
	}
}

// hold takes hold of a run process.
func (z *zygote) hold(pid int) (*process.Adopted, error) {
	adopted, err := process.Adopt(pid, z.pid)
	if err == nil {
		return adopted, nil
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, &UnavailableError{Platform, err}
	}
	return nil, &UnavailableError{NoResponse, err} // the zygote has ended, and the run process with it
}

// attend gives a run its task and returns when it is over. From here on it has started.
func (z *zygote) attend(ctx context.Context, r Request, out *process.Outputs, adopted *process.Adopted, t *talk, f *fork) End {
	over := make(chan struct{})
	go func() {
		defer close(over)
		z.awaitEnd(f, adopted.Gone())
	}()
	how := func() (process.Exit, map[string]int) {
		final, modules := t.end()
		if exit, known := f.exit(); known {
			return exit, modules
		}
		return final, modules
	}
	killed := func() bool {
		exit, _ := how()
		return exit.Code < 0
	}
	spec := process.Spec{Mark: r.Mark, Stop: r.Stop, Drain: r.Drain}
	stopped, cut := process.OS{Clock: z.pool.cfg.Clock}.Attend(ctx, adopted.Leader(over, killed), spec, out)
	var end End
	end.Exit, end.Modules = how()
	end.Stopped, end.Cut = stopped, cut
	return end
}

// awaitEnd returns when a run has ended and its zygote has said how, or cannot any more.
func (z *zygote) awaitEnd(f *fork, gone <-chan struct{}) {
	select {
	case <-f.ended:
		return
	case <-gone:
	}
	select {
	case <-f.ended:
	case <-z.lost:
	case <-z.pool.cfg.Clock.After(z.pool.cfg.Answer):
		z.kill()
		<-z.lost
	}
}
