package related

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/input"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// Watch is the part of a registry that belongs to one kind of resource.
type Watch struct {
	registry *Registry
	watch    watches.Watch
	wake     func(types.NamespacedName) // nil before OnChange
}

// Watch returns the part of the registry for the resources of w.
func (r *Registry) Watch(w watches.Watch) *Watch { return &Watch{registry: r, watch: w} }

// Resolved is what came of a resource's references.
type Resolved struct {
	// Given is what the run gets.
	Given input.Given
	// VaultPassword is what ansible-playbook decrypts with; nil for none.
	VaultPassword []byte
	// Missing says, in one line, what is not there though the run needs it; empty when all is there.
	Missing string
	// Denial is the right for want of which something could not be read.
	Denial *engine.Denial
}

// Resolve reads what obj refers to, and from then on wakes obj when one of these objects changes. Values of Secrets are
// told to learn before anything else is done with them. For a resource that is being deleted nothing is needed: what is
// missing or wrong is left out. The error is an [*input.Refusal] when only a change of the resource helps.
func (w *Watch) Resolve(ctx context.Context, obj *unstructured.Unstructured, deleting bool, learn func(...[]byte)) (Resolved, error) {
	run := &resolution{
		watch: w.watch, read: w.registry.reader.read, namer: namer{obj}, deleting: deleting, learn: learn, seen: map[target]found{},
		out: Resolved{Given: input.Given{Objects: map[string]any{}}},
	}
	err := run.all(ctx)
	// What could be read is followed in any case: its change may be what helps.
	w.registry.follow(w, types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}, run.references)
	return run.out, err
}

// resolution is one pass over the references of a resource.
type resolution struct {
	watch    watches.Watch
	read     func(context.Context, target) (found, error)
	namer    namer
	deleting bool
	learn    func(...[]byte)

	seen       map[target]found
	references []reference
	out        Resolved
}

// reference is a target that was read, and what was there.
type reference struct {
	target
	status bool // whether the status counts, too
	found  found
}

func (r *resolution) all(ctx context.Context) error {
	for _, related := range r.watch.Related {
		if err := r.object(ctx, related); err != nil {
			return err
		}
	}
	for _, sources := range [][]watches.Source{r.watch.VarsFrom, r.watch.ValuesFrom} {
		for _, source := range sources {
			if err := r.source(ctx, source); err != nil {
				return err
			}
		}
	}
	return r.vault(ctx)
}

// forgive turns a refusal to nothing for a resource that has to go away.
func (r *resolution) forgive(t target, refusal *input.Refusal) (target, error) {
	switch {
	case refusal == nil:
		return t, nil
	case r.deleting:
		return target{}, nil
	default:
		return target{}, refusal
	}
}

// object makes a variable of the objects that a resource refers to.
func (r *resolution) object(ctx context.Context, related watches.Related) error {
	gvk := schema.FromAPIVersionAndKind(related.APIVersion, related.Kind)
	var t target
	var refusal *input.Refusal
	r.out.Given.Objects[related.As] = nil
	if related.Selector == nil {
		t, refusal = r.namer.object(gvk, related.Name, related.Namespace)
	} else {
		r.out.Given.Objects[related.As] = []any{}
		t, refusal = r.namer.selected(gvk, related)
	}
	t, err := r.forgive(t, refusal)
	if err != nil || t.isZero() {
		return err
	}
	got, err := r.fetch(ctx, t, related.WatchStatus)
	if err != nil {
		return err
	}
	for _, obj := range got.objects {
		learnSecret(obj, r.learn)
	}
	switch {
	case got.absent != "":
		r.miss(got, related.Optional)
	case related.Selector == nil:
		r.out.Given.Objects[related.As] = object(got.objects[0])
	default:
		r.out.Given.Objects[related.As] = objects(got.objects)
	}
	return nil
}

// source takes a variable or value from a Secret or ConfigMap.
func (r *resolution) source(ctx context.Context, s watches.Source) error {
	gvk := configMapKind
	if s.Secret {
		gvk = secretKind
	}
	value := input.Value{Name: s.As, Path: s.TargetPath}
	obj, key, err := r.keyed(ctx, gvk, watches.SecretKey{Name: s.Name, Namespace: s.Namespace, Key: s.Key}, s.Optional)
	if err != nil {
		return err
	}
	if obj != nil {
		taken, there, refusal := valueOf(s, obj, key)
		if refusal != nil && !r.deleting {
			return refusal
		}
		value.Data, value.There = taken, there
		if !there {
			r.miss(found{absent: fmt.Sprintf("key %s of %s %s is missing", shorten(key), gvk.Kind, obj.GetName())}, s.Optional)
		}
	}
	r.out.Given.Values = append(r.out.Given.Values, value)
	return nil
}

// vault finds the vault password.
func (r *resolution) vault(ctx context.Context) error {
	ref := r.watch.VaultPassword
	if ref == nil {
		return nil
	}
	obj, key, err := r.keyed(ctx, secretKind, *ref, false)
	if err != nil || obj == nil {
		return err
	}
	password, there := dataOf(obj)[key]
	if !there {
		r.miss(found{absent: fmt.Sprintf("key %s of Secret %s is missing", shorten(key), obj.GetName())}, false)
		return nil
	}
	r.out.VaultPassword = []byte(password)
	return nil
}

// keyed reads the object that a reference to a key names; nil when there is none, or no reference. The redactor learns
// the key, or all keys where none is named.
func (r *resolution) keyed(ctx context.Context, gvk schema.GroupVersionKind, ref watches.SecretKey, optional bool) (obj *unstructured.Unstructured, key string, err error) {
	t, refusal := r.namer.object(gvk, ref.Name, ref.Namespace)
	if refusal == nil && !t.isZero() && !ref.Key.IsZero() {
		var there bool
		if key, there, refusal = r.namer.expand(ref.Key); !there {
			t = target{}
		}
	}
	t, err = r.forgive(t, refusal)
	if err != nil || t.isZero() {
		return nil, "", err
	}
	got, err := r.fetch(ctx, t, false)
	if err != nil {
		return nil, "", err
	}
	if got.absent != "" {
		r.miss(got, optional)
		return nil, "", nil
	}
	obj = got.objects[0]
	switch {
	case gvk != secretKind:
	case key == "":
		learnSecret(obj, r.learn)
	default:
		r.learn([]byte(dataOf(obj)[key]))
	}
	return obj, key, nil
}

// fetch reads a target once, however often the watch refers to it.
func (r *resolution) fetch(ctx context.Context, t target, status bool) (found, error) {
	got, known := r.seen[t]
	if !known {
		var err error
		if got, err = r.read(ctx, t); err != nil {
			if r.deleting {
				return found{absent: err.Error()}, nil
			}
			return found{}, err
		}
		r.seen[t] = got
	}
	r.references = append(r.references, reference{target: t, status: status, found: got})
	return got, nil
}

// miss notes that something is not there.
func (r *resolution) miss(got found, optional bool) {
	if optional && got.denial == nil || r.deleting || r.out.Missing != "" {
		return
	}
	r.out.Missing, r.out.Denial = got.absent, got.denial
}
