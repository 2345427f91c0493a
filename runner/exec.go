package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/chartbook-operator/chartbook/runner/internal/controller"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/helm"
	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// ExecOptions are the settings of [Workbench.Exec].
type ExecOptions struct {
	// Namespace is that of a resource which names none.
	Namespace string
	// Finalize cleans up after the resource instead of bringing it about.
	Finalize bool
	// Progress is told of each step. It may be called by several goroutines, one at a time.
	Progress func(Step)
}

// Step is something that a run does.
type Step struct {
	Time     time.Time
	Kind     string // task_started, ok, item, skipped, failed, unreachable, retry, stats or note
	Task     string // name of a task, or kind/name of an object
	Place    string // file:line of a task
	Changed  bool
	Ignored  bool // a failure that was made good
	Duration time.Duration
	Message  string
}

// Ending is what a run came to.
type Ending struct {
	OK      bool
	Outcome string // Succeeded, Changed, Waiting, Transient, Permanent, Cancelled or TimedOut
	Reason  string
	Message string
	Owned   bool // what was made has the resource as its owner
	Took    time.Duration
}

// Exec runs obj once, now. Status and finalizers are left alone. An [InvalidError] says that the resource is wrong.
func (b *Workbench) Exec(ctx context.Context, obj *unstructured.Unstructured, o ExecOptions) (Ending, error) {
	if b.client == nil {
		return Ending{}, &InvalidError{errOffline}
	}
	p, err := b.put(ctx, obj, o.Namespace)
	if err != nil {
		return Ending{}, err
	}
	job, err := b.job(ctx, p)
	if err != nil {
		return Ending{}, err
	}
	if o.Finalize {
		job.Mode, job.Trigger = engine.Finalize, engine.TriggerDeletion
	}
	job.Progress = func(e engine.Event) {
		if o.Progress != nil {
			o.Progress(stepOf(e, job.Redact))
		}
	}
	result, err := b.execute(ctx, p, job)
	if err != nil {
		return Ending{}, fmt.Errorf("run %s %s: %w", obj.GetKind(), obj.GetName(), err)
	}
	return Ending{
		OK: result.Outcome.OK(), Outcome: string(result.Outcome), Reason: result.Reason, Message: job.Redact(result.Message),
		Owned: b.owns(p), Took: result.Finished.Sub(result.Started),
	}, nil
}

func stepOf(e engine.Event, redact func(string) string) Step {
	step := Step{
		Time: e.Time, Kind: string(e.Kind), Task: e.Task, Changed: e.Changed, Ignored: e.Ignored, Duration: e.Duration, Message: redact(e.Message),
	}
	if e.File != "" {
		step.Place = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return step
}

// owns reports whether what a run makes gets an owner. The garbage collector would delete what has one that is not
// there.
func (b *Workbench) owns(p *piece) bool { return p.there && b.options.InjectOwnerRef }

// chart makes the engine for a resource on the bench.
func (b *Workbench) chart(p *piece) (*helm.Engine, error) {
	options := b.options
	options.InjectOwnerRef = b.owns(p)
	e := &engines{options: options, mapper: b.mapper, capabilities: helm.NewCapabilities(clock.RealClock{})}
	if b.client == nil { // only for what asks no cluster
		e.options.RESTConfig, e.mapper = &rest.Config{Host: "https://0.0.0.0:0"}, noKinds{}
	}
	return e.helm(p.watch)
}

func (b *Workbench) execute(ctx context.Context, p *piece, job engine.Job) (engine.Result, error) {
	if p.watch.Chart != "" {
		e, err := b.chart(p)
		if err != nil {
			return engine.Result{}, err
		}
		return e.Run(ctx, job)
	}
	return b.play(ctx, p, job)
}

// play runs a playbook or role with a proxy of its own.
func (b *Workbench) play(ctx context.Context, p *piece, job engine.Job) (result engine.Result, err error) {
	if b.options.executor(p.watch) == ansible.Warm {
		p.watch.Executor = watches.ExecutorDirect // for one run there is nothing to keep warm
	}
	made, err := newEngines(b.options, b.mapper, watches.File{Watches: []watches.Watch{p.watch}})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, made.close()) }() //nolint:contextcheck // what is open is closed however the run ends
	var config controller.Config
	if err := made.configure(p.watch, &config); err != nil { //nolint:contextcheck // nothing is started for one run
		return result, &InvalidError{err}
	}
	kinds, err := metadata.NewForConfig(b.options.RESTConfig)
	if err != nil {
		return result, fmt.Errorf("make a client that watches definitions of kinds: %w", err)
	}
	endpoint, err := proxy.New(proxy.Config{RESTConfig: b.options.RESTConfig, Kinds: kinds, InjectOwner: b.owns(p), Log: b.options.Log}) //nolint:contextcheck // it only takes a port
	if err != nil {
		return result, fmt.Errorf("open the API endpoint for playbooks: %w", err)
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- endpoint.Start(serving) }()
	defer func() { stop(); err = errors.Join(err, <-ended) }()
	session, err := endpoint.Open(job.Owner, proxy.Learn(p.secrets.LearnSecret))
	if err != nil {
		return result, fmt.Errorf("open the API server to run %s: %w", job.ID, err)
	}
	defer session.Close()
	if job.Kubeconfig, err = session.Kubeconfig(); err != nil {
		return result, fmt.Errorf("make the kubeconfig of run %s: %w", job.ID, err)
	}
	return config.Engine.Run(ctx, job)
}
