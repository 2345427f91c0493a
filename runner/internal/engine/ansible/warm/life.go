package warm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// maxWords bounds what is kept of what a zygote writes, in bytes.
const maxWords = 4 << 10

// live is the zygote's whole life.
func (z *zygote) live(ctx context.Context) {
	failure := z.begin(ctx)
	if failure != nil && z.control != nil {
		z.kill()
		<-z.gone
		failure.Err = fmt.Errorf("%w%s", failure.Err, z.lastWords())
	}
	z.settle(failure)
	if z.control != nil {
		<-z.gone
		<-z.lost
		_ = z.control.conn.Close()
	}
	_ = os.RemoveAll(z.dir)
	z.bury() //nolint:contextcheck // what it starts in its place has a life of its own
}

// begin starts the process and tries it.
func (z *zygote) begin(ctx context.Context) *UnavailableError {
	if err := z.launch(ctx); err != nil {
		return &UnavailableError{StartFailed, err}
	}
	if failure := z.awaitReady(); failure != nil {
		return failure
	}
	return z.test(ctx)
}

// launch starts the process.
func (z *zygote) launch(ctx context.Context) error {
	if err := os.Mkdir(z.dir, 0o700); err != nil {
		return fmt.Errorf("make a directory for a zygote: %w", err)
	}
	conn, theirs, err := pair()
	if err != nil {
		return err
	}
	spec := z.spec()
	spec.Inherit = []*os.File{theirs}
	started := make(chan int, 1)
	spec.Started = func(pid int) { started <- pid }
	go func() {
		exit, err := z.pool.cfg.Runner.Run(ctx, spec)
		z.end = describe(exit, err)
		close(z.gone)
		close(started)
	}()
	pid, ok := <-started
	_ = theirs.Close()
	if !ok {
		_ = conn.Close()
		return errors.New(z.end)
	}
	z.control = &control{conn: conn}
	z.pool.mu.Lock()
	z.pid = pid
	z.pool.mu.Unlock()
	z.pool.all.Go(func() { z.listen(conn) })
	return nil
}

// spec says how the process is started. It ends its runs and itself when it finds that this process is gone.
func (z *zygote) spec() process.Spec {
	args := []string{z.pool.cfg.Script, "--program", z.need.program}
	if z.need.without {
		args = append(args, "--without-collections")
	} else if len(z.need.preload) > 0 {
		args = append(args, "--preload", strings.Join(z.need.preload, ","))
	}
	return process.Spec{
		Path: z.need.python, Args: args, Env: z.environ().entries(), Mark: z.pool.cfg.Mark, Dir: z.dir,
		Stdout: z.out, Stderr: z.err, Independent: true,
	}
}

// environ is the environment of the zygote and of its test.
func (z *zygote) environ() environ {
	env := z.need.env.shared()
	for _, name := range []string{"TMPDIR", "ANSIBLE_LOCAL_TEMP", "ANSIBLE_REMOTE_TMP"} {
		env[name] = z.dir
	}
	return env
}

func describe(exit process.Exit, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case exit.Signal != 0:
		return fmt.Sprintf("it was ended by signal %d (%s)", int(exit.Signal), exit.Signal)
	default:
		return fmt.Sprintf("it ended with exit code %d", exit.Code)
	}
}

// lastWords returns what the zygote has written, in one line behind a colon; empty if it has written nothing.
func (z *zygote) lastWords() string {
	if words := strings.Join(strings.Fields(z.out.String()+" "+z.err.String()), " "); words != "" {
		return ": " + words
	}
	return ""
}

// listen takes in what the zygote says, until it says no more.
func (z *zygote) listen(conn *net.UnixConn) {
	broken := z.hear(conn)
	close(z.lost)
	if broken == nil {
		select {
		case <-z.gone:
			return
		case <-z.pool.cfg.Clock.After(stopGrace):
		}
	}
	z.kill() // its runs go on alone
}

// bury forgets a zygote whose process is gone, and replaces one that has died.
func (z *zygote) bury() {
	p := z.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove(z)
	z.kill() // releases its context
	if z.state != working {
		return
	}
	lived := p.cfg.Clock.Since(z.begun)
	p.cfg.Notify(Notice{What: Died, PID: z.pid, Took: lived, Detail: z.end + z.lastWords()})
	if lived < goodLife {
		p.trouble.add(z.need.key(), p.cfg.Clock.Now(), &UnavailableError{StartFailed, errors.New("its zygote died: " + z.end)})
	}
	if !p.closed && p.find(z.need) == nil && p.starting(z.need) == nil {
		_, _ = p.start(z.need)
	}
}
