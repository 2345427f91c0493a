package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/chartbook-operator/chartbook/cmd/internal/table"
)

func TestConfirmed(t *testing.T) {
	broken := errors.New("broken")
	tests := map[string]struct {
		reason string
		in     io.Reader
		want   bool
		err    error
	}{
		"y":      {reason: "the short answer that the question offers", in: strings.NewReader("y\n"), want: true},
		"Yes":    {reason: "the long one, as people write it", in: strings.NewReader(" Yes \n"), want: true},
		"NoEnd":  {reason: "Ctrl-D after the answer", in: strings.NewReader("y"), want: true},
		"n":      {reason: "no means no", in: strings.NewReader("n\n")},
		"Enter":  {reason: "no is the default", in: strings.NewReader("\n")},
		"CtrlD":  {reason: "no answer is no", in: strings.NewReader("")},
		"Yellow": {reason: "only the whole word counts", in: strings.NewReader("yellow\n")},
		"Second": {reason: "what follows is not part of the answer", in: strings.NewReader("n\ny\n")},
		"Broken": {reason: "a terminal that fails is not a no", in: iotest.ErrReader(broken), err: broken},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := confirmed(t.Context(), test.in)
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("got %v, %v; want %v, %v: %s", got, err, test.want, test.err, test.reason)
			}
		})
	}
}

func TestConfirmedEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInterrupted)
	in, out := io.Pipe() // nobody ever answers
	defer func() { _ = out.Close() }()
	if _, err := confirmed(ctx, in); !errors.Is(err, errInterrupted) {
		t.Errorf("got %v, want that it was interrupted", err)
	}
}

func TestAskForAsksNobodyWithoutATerminal(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var out strings.Builder
	d := &demo{stdin: file, screen: table.New(&out, nil)}
	if err := d.askFor(t.Context(), "kind", "https://127.0.0.1"); err != nil {
		t.Errorf("refused: %v", err)
	}
	if out.Len() > 0 {
		t.Errorf("asked %q where nobody can answer", out.String())
	}
}
