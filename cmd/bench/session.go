package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// session is one comparison.
type session struct {
	options
	progress *progress
	dir      string
	program  string // absolute path of the operator
	cluster  cluster
	narrow   []*operator // one per executor, as operators are by default
	wide     []*operator // those that were started to have many runs at one time
	figures  figures
	notes    []string
}

// run measures everything and prints the table.
func run(ctx context.Context, o options, progress *progress, out io.Writer) (err error) {
	s := &session{options: o, progress: progress, figures: figures{}}
	defer progress.clear()
	if s.program, err = filepath.Abs(o.operator); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "bench-"); err != nil {
		return err
	}
	defer func() {
		if err == nil && !o.keep {
			err = os.RemoveAll(s.dir)
		}
	}()
	machine := lookAtMachine()
	progress.sayf("starting a control plane")
	var stop func()
	if s.cluster, stop, err = startCluster(ctx, o.localcluster, filepath.Join(s.dir, "c")); err != nil {
		return err
	}
	defer stop()
	if err = errors.Join(s.cluster.install(ctx), writeContent(s.dir, o.load().reads)); err != nil {
		return err
	}
	if err = s.measure(ctx); err != nil {
		return err
	}
	progress.clear()
	report := newReport(o, machine, s.figures)
	report.Notes = s.notes
	if err = report.write(o.json); err != nil {
		return err
	}
	report.print(out)
	return nil
}

// measure starts the operators and measures in turns.
func (s *session) measure(ctx context.Context) error {
	defer s.stopAll(ctx)
	for _, executor := range s.executors {
		s.progress.sayf("%s: first runs, which do not count", executor)
		o, err := s.startOperator(ctx, executor, 0)
		if err != nil {
			return err
		}
		s.narrow = append(s.narrow, o)
		if err := s.warmUp(ctx, o); err != nil {
			return err
		}
	}
	for round := range s.rounds {
		for i := range s.narrow {
			o := s.narrow[(i+round)%len(s.narrow)]
			for _, part := range []func(context.Context, int, *operator) error{s.single, s.together, s.reading, s.crowded} {
				if err := part(ctx, round, o); err != nil {
					return err
				}
			}
		}
	}
	for _, o := range s.narrow {
		s.notes = append(s.notes, o.paths(ctx)...)
	}
	return nil
}

func (s *session) stopAll(ctx context.Context) {
	for _, o := range s.narrow {
		_ = o.stop(ctx)
	}
}

// warmUp runs each play once, so that caches are as they are in an operator that has been there for a while.
func (s *session) warmUp(ctx context.Context, o *operator) error {
	for of := range kinds {
		if _, err := o.serve(ctx, of, 1); err != nil {
			return err
		}
	}
	return o.rest(ctx)
}

// single measures resources that are created one after the other.
func (s *session) single(ctx context.Context, round int, o *operator) error {
	before, err := o.read(ctx)
	if err != nil {
		return err
	}
	for n := range s.load().singles {
		s.tell(round, o, fmt.Sprintf("one resource, %d of %d", n+1, s.load().singles))
		took, err := o.serve(ctx, fives, 1)
		if err != nil {
			return err
		}
		s.figures.add(createToSuccessful, o.executor, took.Seconds())
	}
	after, err := o.read(ctx)
	if err != nil {
		return err
	}
	used := after.since(before)
	s.figures.add(cpuPerRun, o.executor, used.cpu.Seconds()/used.runs)
	s.figures.add(playRequests, o.executor, used.play/used.runs)
	s.figures.add(operatorRequests, o.executor, used.operator/used.runs)
	s.figures.add(runsPerResource, o.executor, used.runs/float64(s.load().singles))
	return o.rest(ctx)
}

// together measures resources that are created all at once.
func (s *session) together(ctx context.Context, round int, o *operator) error {
	s.tell(round, o, fmt.Sprintf("%d resources at once", s.load().together))
	return s.batch(ctx, o, fives, s.load().together, allAtOnce, cpuPerRunAtOnce)
}

// reading measures the play that only reads.
func (s *session) reading(ctx context.Context, round int, o *operator) error {
	s.tell(round, o, fmt.Sprintf("%d tasks that read", s.load().reads))
	return s.batch(ctx, o, readings, 1, reads, cpuOfReads)
}

// batch measures time and CPU of resources that are created all at once.
func (s *session) batch(ctx context.Context, o *operator, of schema.GroupVersionResource, count int, seconds, cpu quantity) error {
	before, err := o.read(ctx)
	if err != nil {
		return err
	}
	took, err := o.serve(ctx, of, count)
	if err != nil {
		return err
	}
	after, err := o.read(ctx)
	if err != nil {
		return err
	}
	used := after.since(before)
	s.figures.add(seconds, o.executor, took.Seconds())
	s.figures.add(cpu, o.executor, used.cpu.Seconds()/used.runs)
	return o.rest(ctx)
}

// crowded measures memory, with an operator that has many runs at one time.
func (s *session) crowded(ctx context.Context, round int, narrow *operator) error {
	crowd := s.load().crowd
	s.tell(round, narrow, fmt.Sprintf("%d runs at one time", crowd))
	o, err := s.startOperator(ctx, narrow.executor, crowd)
	if err != nil {
		return err
	}
	defer func() { _ = o.stop(ctx) }()
	s.wide = append(s.wide, o)
	if err := s.warmUp(ctx, o); err != nil {
		return err
	}
	looking, look := context.WithCancel(ctx)
	peak := watchMemory(looking, o.PID())
	_, err = o.serve(ctx, fives, crowd)
	look()
	if err != nil {
		return err
	}
	s.figures.add(peakMemory, o.executor, float64(<-peak)/(1<<20))
	return o.rest(ctx)
}

func (s *session) tell(round int, o *operator, what string) {
	s.progress.sayf("round %d of %d, %s: %s", round+1, s.rounds, o.executor, what)
}
