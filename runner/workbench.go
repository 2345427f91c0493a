package runner

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/chartbook-operator/chartbook/runner/internal/controller"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/input"
	"github.com/chartbook-operator/chartbook/runner/internal/redact"
	"github.com/chartbook-operator/chartbook/runner/internal/related"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// Workbench renders and runs single resources outside of an operator, as an operator of the same options would.
type Workbench struct {
	options Options
	file    watches.File
	mapper  meta.RESTMapper   // nil without a cluster
	client  dynamic.Interface // nil without a cluster
}

// OpenWorkbench reads the watches file. Without a RESTConfig in the options there is no cluster. An [InvalidError] says
// that the watches file is wrong.
func OpenWorkbench(o Options) (*Workbench, error) {
	file, err := watches.Load(o.WatchesFile, watches.Options{})
	if err != nil {
		return nil, &InvalidError{err}
	}
	o.settle()
	b := &Workbench{options: o, file: file}
	if o.RESTConfig == nil {
		return b, nil
	}
	httpClient, err := rest.HTTPClientFor(o.RESTConfig)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	if b.mapper, err = apiutil.NewDynamicRESTMapper(o.RESTConfig, httpClient); err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	if b.client, err = dynamic.NewForConfigAndClient(o.RESTConfig, httpClient); err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return b, nil
}

// Output returns what to render of a resource where nothing is asked for, and whether a cluster is needed for it.
func (b *Workbench) Output(obj *unstructured.Unstructured, asked string) (output string, cluster bool, err error) {
	w, err := b.watch(obj)
	if err != nil {
		return "", false, err
	}
	output = asked
	switch {
	case asked == "" && w.Chart != "":
		output = "manifests"
	case asked == "":
		output = "vars"
	}
	inputsOnly := output == "vars" || output == "values" && !w.InRegistry()
	return output, w.Refers() || !inputsOnly, nil
}

// piece is a resource on the bench.
type piece struct {
	watch   watches.Watch
	obj     *unstructured.Unstructured
	there   bool // in the cluster
	secrets redact.Values
}

var (
	errNoWatch    = errors.New("the watches file has no such kind")
	errUnselected = errors.New("the watch's selector does not match the resource's labels")
	errOffline    = errors.New("this needs a cluster")
)

// watch returns the watch of a resource's kind.
func (b *Workbench) watch(obj *unstructured.Unstructured) (watches.Watch, error) {
	why := errNoWatch
	for _, w := range b.file.Watches {
		if w.GVK != obj.GroupVersionKind() {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(&w.Selector)
		if err == nil && selector.Matches(labels.Set(obj.GetLabels())) {
			return w, nil
		}
		why = errUnselected
	}
	return watches.Watch{}, &InvalidError{fmt.Errorf("%s in %s: %w", obj.GetKind(), obj.GetAPIVersion(), why)}
}

// put puts a resource on the bench: its spec, labels and annotations as they are given, the rest as the cluster has
// it. Where it has no namespace and its kind wants one, it gets namespace.
func (b *Workbench) put(ctx context.Context, obj *unstructured.Unstructured, namespace string) (*piece, error) {
	w, err := b.watch(obj)
	if err != nil {
		return nil, err
	}
	p := &piece{watch: w, obj: obj.DeepCopy()}
	p.secrets.LearnSecret(p.obj.Object)
	if b.client == nil {
		if p.obj.GetNamespace() == "" && w.ReleaseNamespace.IsZero() {
			p.obj.SetNamespace(namespace)
		}
		return p, nil
	}
	mapping, err := b.mapper.RESTMapping(w.GVK.GroupKind(), w.GVK.Version)
	if err != nil {
		return nil, fmt.Errorf("%s in %s (is its CRD installed?): %w", w.GVK.Kind, w.GVK.GroupVersion(), err)
	}
	client := dynamic.ResourceInterface(b.client.Resource(mapping.Resource))
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		if p.obj.GetNamespace() == "" {
			p.obj.SetNamespace(namespace)
		}
		client = b.client.Resource(mapping.Resource).Namespace(p.obj.GetNamespace())
	} else {
		p.obj.SetNamespace("")
	}
	live, err := client.Get(ctx, p.obj.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", w.GVK.Kind, p.obj.GetName(), err)
	}
	p.there = true
	p.obj.SetUID(live.GetUID())
	p.obj.SetGeneration(live.GetGeneration())
	p.obj.SetResourceVersion(live.GetResourceVersion())
	p.obj.SetCreationTimestamp(live.GetCreationTimestamp())
	return p, nil
}

// job makes the job of a run for a resource on the bench.
func (b *Workbench) job(ctx context.Context, p *piece) (engine.Job, error) {
	job := engine.Job{
		ID: newRunID(), Mode: engine.Reconcile, Trigger: engine.TriggerRequest, Attempt: 1, VerifyChildren: true,
		Annotations: p.obj.GetAnnotations(), Redact: p.secrets.String, Timeout: b.options.RunTimeout,
		Owner: controller.OwnerOf(p.obj),
	}
	if p.watch.Timeout != nil {
		job.Timeout = *p.watch.Timeout
	}
	given, err := b.refer(ctx, p, &job)
	if err != nil {
		return job, err
	}
	run := input.Run{ID: job.ID, Trigger: job.Trigger, Reason: "run by hand", Generation: job.Owner.Generation, Attempt: 1, Given: given}
	if p.watch.Chart != "" {
		job.Inputs, err = input.Values(p.obj.Object, p.watch, given)
	} else {
		job.Inputs, err = input.ExtraVars(p.obj.Object, p.watch, run)
	}
	if invalid := refusal(err); invalid != nil {
		return job, invalid
	}
	return job, err
}

// refusal returns what is wrong with a resource if that is why its inputs could not be made, else nil.
func refusal(err error) *InvalidError {
	if refused, is := errors.AsType[*input.Refusal](err); is {
		return &InvalidError{fmt.Errorf("%s: %w", refused.Reason, err)}
	}
	return nil
}

// refer reads what a resource refers to.
func (b *Workbench) refer(ctx context.Context, p *piece, job *engine.Job) (input.Given, error) {
	if !p.watch.Refers() {
		return input.Given{}, nil
	}
	if b.client == nil {
		return input.Given{}, &InvalidError{fmt.Errorf("the watch refers to other objects: %w", errOffline)}
	}
	registry, err := related.New(related.Config{RESTConfig: b.options.RESTConfig, Mapper: b.mapper, Log: b.options.Log})
	if err != nil {
		return input.Given{}, fmt.Errorf("prepare reading related objects: %w", err)
	}
	got, err := registry.Watch(p.watch).Resolve(ctx, p.obj, false, p.secrets.Learn)
	if invalid := refusal(err); invalid != nil {
		return input.Given{}, invalid
	}
	switch {
	case err != nil:
		return input.Given{}, fmt.Errorf("read what the resource refers to: %w", err)
	case got.Missing != "":
		return input.Given{}, fmt.Errorf("the run would wait: %s", got.Missing)
	}
	job.VaultPassword, job.Env = got.VaultPassword, p.watch.Env
	return got.Given, nil
}
