package status

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// maxAttempts is how often a write is tried when others write to the same object. Each try starts from a fresh read.
const maxAttempts = 10

// Writer writes status. It is safe for use by several goroutines and must not be copied.
type Writer struct {
	// Store is where the objects are.
	Store Store

	pruned pruned
	mu     sync.Mutex
	bare   map[schema.GroupVersionKind]bool // kinds without a status subresource
}

// Written is what became of a write.
type Written struct {
	// Object is the newest state of the object that is known; the next write starts from it.
	Object *unstructured.Unstructured
	// Changed says that something was sent.
	Changed bool
	// Gone says that the object is not there any more.
	Gone bool
	// Contended says that others changed the object each time, until the attempts were used up. Nothing is written.
	Contended bool
	// Pruned are fields of status that the API server did not keep, since the CRD's schema does not have them. Each
	// is told once for a kind.
	Pruned []string
}

// Write brings the status of obj to what compute makes of the present one; nothing is sent if they are equal. compute
// may be called several times and must not change its argument, which may be nil. obj stays as it is.
//
// That someone else has changed the object meanwhile, or deleted it, is no error. ErrNoStatusSubresource comes once
// for a kind, with a Written that is valid.
func (w *Writer) Write(ctx context.Context, obj *unstructured.Unstructured,
	compute func(prev map[string]any) map[string]any,
) (Written, error) {
	written := Written{Object: obj}
	var notice error
	for range maxAttempts {
		at, err := w.try(ctx, &written, compute)
		if err == nil {
			return written, notice
		}
		bare := isAbsent(err) && at == subresource
		if !bare && !isAbsent(err) && !apierrors.IsConflict(err) {
			return written, fmt.Errorf("write the status of %s: %w", describe(obj), err)
		}
		if gone, err := w.reread(ctx, &written); gone || err != nil {
			return written, err
		}
		if bare {
			notice = errors.Join(notice, w.markBare(obj.GroupVersionKind()))
		}
	}
	written.Contended = true
	return written, notice
}

// Forget lets go of what was learnt about a kind, since its CRD has changed.
func (w *Writer) Forget(gvk schema.GroupVersionKind) {
	w.pruned.forget(gvk)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.bare, gvk)
}

// place is where the record of an object is kept.
type place string

const (
	subresource place = "status"
	annotation  place = ""
)

// try writes once, starting from written.Object, and says where.
func (w *Writer) try(ctx context.Context, written *Written, compute func(map[string]any) map[string]any) (place, error) {
	obj := written.Object
	gvk := obj.GroupVersionKind()
	at := w.place(gvk)
	prev := statusOf(obj)
	if at == annotation {
		prev = fromAnnotation(obj)
	}
	next := w.pruned.strip(gvk, compute(prev))
	if at == annotation {
		var err error
		if next, err = bound(next); err != nil {
			return at, err
		}
	}
	if same(prev, next) {
		return at, nil
	}
	body, err := patchFor(obj, at, prev, next)
	if err != nil {
		return at, err
	}
	stored, err := w.Store.Patch(ctx, obj, string(at), body)
	if err != nil {
		return at, err
	}
	written.Object, written.Changed = stored, true
	if at == subresource {
		written.Pruned = w.pruned.learn(gvk, next, statusOf(stored))
	}
	return at, nil
}

// reread gets the object anew. It reports whether the object is gone, or is another one of the same name.
func (w *Writer) reread(ctx context.Context, written *Written) (bool, error) {
	was := written.Object
	fresh, err := w.Store.Get(ctx, was)
	switch {
	case isAbsent(err):
		written.Gone = true
		return true, nil
	case err != nil:
		return false, fmt.Errorf("read %s to write its status: %w", describe(was), err)
	case fresh.GetUID() != was.GetUID():
		written.Gone = true
		return true, nil
	}
	written.Object = fresh
	return false, nil
}

func (w *Writer) place(gvk schema.GroupVersionKind) place {
	w.mu.Lock()
	defer w.mu.Unlock()
	if BuiltIn(gvk) || w.bare[gvk] {
		return annotation
	}
	return subresource
}

// markBare notes that a kind has no status subresource and returns the error that says so, the first time.
func (w *Writer) markBare(gvk schema.GroupVersionKind) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bare[gvk] {
		return nil
	}
	if w.bare == nil {
		w.bare = map[schema.GroupVersionKind]bool{}
	}
	w.bare[gvk] = true
	return fmt.Errorf("%s: %w", gvk, ErrNoStatusSubresource)
}

// patchFor returns a JSON merge patch. It names the version that it was made for, since a list such as conditions is
// replaced as a whole and must not undo what someone else has put there.
func patchFor(obj *unstructured.Unstructured, at place, prev, next map[string]any) ([]byte, error) {
	metadata := map[string]any{"resourceVersion": obj.GetResourceVersion()}
	patch := map[string]any{"metadata": metadata}
	if at == subresource {
		patch["status"] = diff(prev, next)
		return utiljson.Marshal(patch)
	}
	record, err := utiljson.Marshal(next)
	if err != nil {
		return nil, fmt.Errorf("encode the record of a run: %w", err)
	}
	metadata["annotations"] = map[string]any{Annotation: string(record)}
	return utiljson.Marshal(patch)
}

func statusOf(obj *unstructured.Unstructured) map[string]any {
	status := object(obj.Object["status"])
	return status
}

// isAbsent tells the answers for an object, a subresource or a kind that is not there.
func isAbsent(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) || meta.IsNoMatchError(err)
}

func describe(obj *unstructured.Unstructured) string {
	name := obj.GetName()
	if obj.GetNamespace() != "" {
		name = obj.GetNamespace() + "/" + name
	}
	return obj.GetKind() + " " + name
}
