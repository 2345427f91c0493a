package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"
)

// errRefused is the answer no.
var errRefused = errors.New("not confirmed; nothing was changed")

// askFor asks whether a cluster may be used. Where nobody can answer, naming it on the command line was the answer.
func (d *demo) askFor(ctx context.Context, name, server string) error {
	if d.opts.yes || !term.IsTerminal(int(d.stdin.Fd())) {
		return nil
	}
	d.screen.Printf("CRDs, a namespace and samples are created there, and removed at the end. Continue? [y/N]")
	ok, err := confirmed(ctx, d.stdin)
	if err != nil {
		return fmt.Errorf("ask whether to use context %s (%s): %w", name, server, err)
	}
	if !ok {
		return errRefused
	}
	return nil
}

// confirmed reads one line and reports whether it says yes. No line at all means no.
func confirmed(ctx context.Context, in io.Reader) (bool, error) {
	type answer struct {
		line string
		err  error
	}
	answers := make(chan answer, 1)
	go func() { // outlives an interrupted question, until the process ends or somebody presses Enter
		line, err := bufio.NewReader(in).ReadString('\n')
		answers <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case a := <-answers:
		if a.err != nil && !errors.Is(a.err, io.EOF) {
			return false, fmt.Errorf("read the answer: %w", a.err)
		}
		switch strings.ToLower(strings.TrimSpace(a.line)) {
		case "y", "yes":
			return true, nil
		}
		return false, nil
	}
}
