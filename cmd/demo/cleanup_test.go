package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCleanupUndoesEverythingBackwards(t *testing.T) {
	broken := errors.New("broken")
	var c cleanup
	var done, said []string
	for _, name := range []string{"first", "second", "third"} {
		c.add(name, time.Minute, func(context.Context) error {
			done = append(done, name)
			if name == "second" {
				return broken
			}
			return nil
		})
	}
	err := c.run(t.Context(), func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) })
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want that the second broke", err)
	}
	want := []string{"third", "second", "first"}
	if diff := cmp.Diff(want, done); diff != "" {
		t.Errorf("undone (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
}

func TestCleanupHasDeadlines(t *testing.T) {
	var c cleanup
	c.add("Waiting", time.Millisecond, func(ctx context.Context) error {
		<-ctx.Done()
		return context.Cause(ctx)
	})
	err := c.run(t.Context(), func(string, ...any) {})
	if err == nil || err.Error() != "Waiting: not within 1ms" {
		t.Errorf("got %v", err)
	}
}

func TestLockKeepsOthersOut(t *testing.T) {
	dir := t.TempDir()
	release, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockDir(dir); err == nil {
		t.Error("two demos at work in one directory")
	}
	release()
	again, err := lockDir(dir)
	if err != nil {
		t.Fatalf("after the release: %v", err)
	}
	again()
}

func TestKeptIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := refuseKept(dir); err != nil {
		t.Errorf("nothing is kept: %v", err)
	}
	want := kept{Cluster: cluster{Kind: clusterLocal, Kubeconfig: "k"}, Operator: process{PID: 1, Start: "2"}}
	if err := want.write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := readKept(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if err := refuseKept(dir); err == nil {
		t.Error("a kept demo would be overwritten")
	}
}
