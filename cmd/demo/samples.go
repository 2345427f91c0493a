package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Limits of the removal of the samples: with the operator, which has finalizers to run, and without it.
const (
	finalizeLimit = time.Minute
	orphanLimit   = 5 * time.Second
)

// sample is one resource of the shipped example.
type sample struct{ *unstructured.Unstructured }

// id tells samples apart, and matches a run to its sample.
func (s sample) id() string { return sampleID(s.GetKind(), s.GetName()) }

func sampleID(kind, name string) string { return kind + "/" + name }

// readSamples returns the samples, put into a namespace and marked as ours.
func readSamples(dir, namespace string) ([]sample, error) {
	objects, err := readManifests(dir)
	if err != nil {
		return nil, err
	}
	samples := make([]sample, 0, len(objects))
	for _, obj := range objects {
		obj.SetNamespace(namespace)
		markOurs(obj)
		samples = append(samples, sample{obj})
	}
	return samples, nil
}

// sample returns the sample of a kind.
func (d *demo) sample(kind string) (sample, error) {
	for _, s := range d.samples {
		if s.GetKind() == kind {
			return s, nil
		}
	}
	return sample{}, fmt.Errorf("there is no sample of kind %s in %s", kind, d.opts.samples)
}

// applySamples applies the samples, unless somebody else has resources of the same names there.
func (d *demo) applySamples(ctx context.Context) error {
	for _, s := range d.samples {
		found, err := d.kube.find(ctx, s.Unstructured)
		if err != nil {
			return err
		}
		if found != nil && !ours(found) {
			return fmt.Errorf("namespace %s has a %s that the demo did not make; choose another with --namespace", d.opts.namespace, s.id())
		}
	}
	if err := d.awaitLeftovers(ctx); err != nil {
		return err
	}
	d.undo.add("Removing the samples, finalizers included", d.removalLimit(), d.removeSamples)
	for _, s := range d.samples {
		obj := client.ApplyConfigurationFromUnstructured(s.DeepCopy())
		if err := d.kube.Apply(ctx, obj, fieldOwner, client.ForceOwnership); err != nil {
			return fmt.Errorf("apply %s: %w", s.id(), err)
		}
	}
	d.sayf("%d samples applied", len(d.samples))
	return nil
}

// awaitLeftovers waits until what an earlier demo was still removing when it ended is gone; now there is an operator
// again.
func (d *demo) awaitLeftovers(ctx context.Context) error {
	return d.wait(ctx, "what an earlier demo left to go", d.opts.timeout, func(ctx context.Context) error {
		for _, s := range d.samples {
			if err := d.kube.until(ctx, s.Unstructured, notTerminating); err != nil {
				return err
			}
		}
		return nil
	})
}

// awaitSamples waits until all samples are as they should be.
func (d *demo) awaitSamples(ctx context.Context) error {
	begun := time.Now()
	err := d.wait(ctx, "the samples to be ready", d.opts.timeout, func(ctx context.Context) error {
		return d.view.await(ctx, func() error { return d.unready(ctx) })
	})
	if err != nil {
		return err
	}
	d.sayf("All %d samples are as they should be, %s after they were applied", len(d.samples), seconds(time.Since(begun)))
	return nil
}

// unready returns nil, or which samples are not as they should be.
func (d *demo) unready(ctx context.Context) error {
	var errs []error
	for _, s := range d.samples {
		obj, err := d.view.get(ctx, s.Unstructured)
		if err != nil {
			return err
		}
		if err := verdictOf(obj, d.runs.last(s.id())).expected(!d.cluster.local()); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.id(), err))
		}
	}
	return oneLine(errs)
}

// oneLine joins errors in one line.
func oneLine(errs []error) error {
	var joined error
	for _, err := range errs {
		if joined == nil {
			joined = err
			continue
		}
		joined = fmt.Errorf("%w; %w", joined, err)
	}
	return joined
}

// removalLimit is how long the samples may take to go. What is left on a local cluster goes with it; elsewhere somebody
// would have to clean up.
func (d *demo) removalLimit() time.Duration {
	if d.cluster.local() {
		return finalizeLimit
	}
	return max(finalizeLimit, d.opts.timeout)
}

// removeSamples deletes what a demo applied and waits until it is gone. Without an operator nobody runs finalizers, so
// waiting for them is kept short.
func (d *demo) removeSamples(ctx context.Context) error {
	if d.operator != nil && d.operator.Ended() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, orphanLimit, errors.New("the operator is not running"))
		defer cancel()
	}
	for _, s := range d.samples {
		found, err := d.kube.find(ctx, s.Unstructured)
		if err == nil && found != nil && ours(found) {
			err = d.kube.remove(ctx, found)
		}
		if err != nil {
			return err
		}
	}
	for _, s := range d.samples {
		if err := d.kube.until(ctx, s.Unstructured, goneOrForeign); err != nil {
			return d.stuck(ctx, err)
		}
	}
	return nil
}

// goneOrForeign is a condition for until.
func goneOrForeign(obj *unstructured.Unstructured) bool { return obj == nil || !ours(obj) }

// lookLimit is how long it may take to see what is left when the time for removing it is over.
const lookLimit = 5 * time.Second

// stuck returns why the removal of samples came to nothing: err, or the end of ctx and what is left.
func (d *demo) stuck(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookLimit)
	defer cancel()
	left, err := d.leftovers(ctx)
	if err != nil {
		return errors.Join(cause, err)
	}
	return fmt.Errorf("%w: still there: %s", cause, strings.Join(left, ", "))
}

// leftovers returns the samples of ours that are still there, each with the finalizers that hold it.
func (d *demo) leftovers(ctx context.Context) ([]string, error) {
	var left []string
	for _, s := range d.samples {
		found, err := d.kube.find(ctx, s.Unstructured)
		if err != nil {
			return nil, err
		}
		if !goneOrForeign(found) {
			left = append(left, fmt.Sprintf("%s (finalizers: %s)", s.id(), strings.Join(found.GetFinalizers(), " ")))
		}
	}
	return left, nil
}
