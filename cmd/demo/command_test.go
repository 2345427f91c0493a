package main

import (
	"context"
	"errors"
	"os"
	"testing"
)

func TestExecuteRefusesWrongUsage(t *testing.T) {
	tests := map[string]struct {
		reason string
		args   []string
	}{
		"UnknownFlag":    {reason: "a typing error must not start a demo", args: []string{"--clusters=local"}},
		"Argument":       {reason: "the demo takes none; 'demo current' would be the local cluster", args: []string{"current"}},
		"UnknownCluster": {reason: "only two are known", args: []string{"--cluster=production"}},
		"NoNamespace":    {reason: "an empty namespace would mean all of them", args: []string{"--namespace="}},
		"NoDir":          {reason: "an empty directory would be the working directory", args: []string{"--dir="}},
		"NoTime":         {reason: "nothing can be waited for in no time", args: []string{"--timeout=0s"}},
		"DownNoDir":      {reason: "as above", args: []string{"down", "--dir="}},
		"DownArgument":   {reason: "the directory is a flag", args: []string{"down", "dir"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := execute(test.args); got != exitUsage {
				t.Errorf("exit code %d, want %d: %s", got, exitUsage, test.reason)
			}
		})
	}
}

func TestInterrupts(t *testing.T) {
	signals := make(chan os.Signal)
	work, patience := interrupts(t.Context(), signals)
	if work.Err() != nil || patience.Err() != nil {
		t.Fatal("ended before any signal")
	}
	signals <- os.Interrupt
	<-work.Done()
	if cause := context.Cause(work); !errors.Is(cause, errInterrupted) {
		t.Errorf("the work ended because of %v", cause)
	}
	if patience.Err() != nil {
		t.Fatal("the first signal ended the cleaning, too")
	}
	signals <- os.Interrupt
	<-patience.Done()
}
