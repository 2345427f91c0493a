package dependents

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// This file is the one place that says what counts as a change of what was applied to a child; status.go says when its
// status does.
//
// What counts is what was applied to it for its owner. The API server notes in metadata.managedFields which client
// set which field, so those who set the mark of ownership (our owner reference, or the annotations) are taken for
// us, and only the fields they set are looked at. That leaves out all that others add: the status, what the
// scheduler, a volume binder or an autoscaler fill in, labels and annotations of other tools. When somebody changes
// a field of ours, its value differs and, unless it was done in our name, the field is not ours any more; either
// way the digest differs.
//
// Where managedFields are of no help (an aggregated API without them, a mark that was put on by hand) everything
// counts but the status, the bookkeeping in metadata, and annotations of Kubernetes' own domains, which
// controllers write.
//
// The number of replicas is kept apart from the digest: an autoscaler takes it over from us, the API server's default
// as well as a number that was applied, and that is no reason to wake the one who made the workload, or to begin a
// tug of war.
//
// Finalizers and the deletion timestamp never count: a child on its way out is news when it is gone.

// digest stands for what was applied to a child.
type digest [sha256.Size]byte

// applied is what was applied to a child.
type applied struct {
	digest   digest
	replicas string // spec.replicas; empty if that was not applied
	// autoscaled says that an autoscaler has set spec.replicas since.
	autoscaled bool
}

// same reports whether nothing that was applied is different from what it was.
func (a applied) same(before applied) bool {
	return a.digest == before.digest && (a.autoscaled || a.replicas == before.replicas)
}

// appliedTo returns what was applied to a child.
func appliedTo(child *unstructured.Unstructured, own ownership) applied {
	fields := relevant(appliedFields(child, own))
	spec := treeOf(fields["f:spec"])
	_, ours := spec["f:replicas"]
	delete(spec, "f:replicas")
	if ours && len(spec) == 0 {
		delete(fields, "f:spec") // nothing named below means everything
	}
	a := applied{autoscaled: autoscaled(child)}
	h := &hasher{hash: sha256.New()}
	if len(fields) > 0 {
		h.owned(child.Object, fields)
	}
	if h.leaves == 0 {
		ours, h = true, &hasher{hash: sha256.New()}
		h.any(withoutBookkeeping(child))
	}
	a.digest = digest(h.hash.Sum(nil))
	if replicas, found, _ := unstructured.NestedFieldNoCopy(child.Object, "spec", "replicas"); ours && found {
		a.replicas = string(textOf(replicas))
	}
	return a
}

// autoscaled reports whether the last one who set the number of replicas was the HorizontalPodAutoscaler, which does
// so by the subresource scale.
func autoscaled(child *unstructured.Unstructured) bool {
	entries, _, _ := unstructured.NestedSlice(child.Object, "metadata", "managedFields")
	return slices.ContainsFunc(entries, func(entry any) bool {
		manager, fields := managedBy(entry)
		_, scales := treeOf(fields["f:spec"])["f:replicas"]
		return scales && manager == "kube-controller-manager" && treeOf(entry)["subresource"] == "scale"
	})
}

// appliedFields returns the fields that were set by those who marked the child as owned, in the form of
// metadata.managedFields: a tree of "f:<key>".
func appliedFields(child *unstructured.Unstructured, own ownership) map[string]any {
	entries, _, _ := unstructured.NestedSlice(child.Object, "metadata", "managedFields")
	ours := map[any]bool{}
	for _, entry := range entries {
		if manager, fields := managedBy(entry); marksOwner(fields, own) {
			ours[manager] = true
		}
	}
	union := map[string]any{}
	for _, entry := range entries {
		if manager, fields := managedBy(entry); ours[manager] {
			merge(union, fields)
		}
	}
	return union
}

// relevant leaves out of fields what never counts: the status, all metadata but labels and annotations, and the
// marks of ownership themselves, which say nothing about what else was applied.
func relevant(fields map[string]any) map[string]any {
	delete(fields, "f:status")
	metadata := treeOf(fields["f:metadata"])
	maps.DeleteFunc(metadata, func(key string, _ any) bool { return key != "f:labels" && key != "f:annotations" })
	annotations := treeOf(metadata["f:annotations"])
	delete(annotations, "f:"+ownerAnnotation)
	delete(annotations, "f:"+ownerTypeAnnotation)
	for _, key := range []string{"f:labels", "f:annotations"} {
		if len(treeOf(metadata[key])) == 0 {
			delete(metadata, key) // nothing named below means everything
		}
	}
	if len(metadata) == 0 {
		delete(fields, "f:metadata")
	}
	return fields
}

func managedBy(entry any) (manager any, fields map[string]any) {
	m := treeOf(entry)
	return m["manager"], treeOf(m["fieldsV1"])
}

// marksOwner reports whether fields hold the reference or annotation that names an owner.
func marksOwner(fields map[string]any, own ownership) bool {
	metadata := treeOf(fields["f:metadata"])
	references := treeOf(metadata["f:ownerReferences"])
	for _, uid := range own.uids {
		if _, ok := references[fmt.Sprintf(`k:{"uid":%q}`, uid)]; ok {
			return true
		}
	}
	_, ok := treeOf(metadata["f:annotations"])["f:"+ownerAnnotation]
	return ok && own.annotated
}

func merge(into, fields map[string]any) {
	for key, value := range fields {
		if have := treeOf(into[key]); have != nil {
			merge(have, treeOf(value))
			continue
		}
		into[key] = treeOf(value)
	}
}

// hasher feeds values to a hash in an order that depends on nothing but the values.
type hasher struct {
	hash   hash.Hash
	leaves int // fields of the child that were found
}

// owned hashes the parts of value that fields name: keys of a map, or items of a list that has keys or is a set. What
// has no parts counts as a whole.
func (h *hasher) owned(value any, fields map[string]any) {
	switch value := value.(type) {
	case map[string]any:
		if len(fields) > 0 {
			h.ownedKeys(value, fields)
			return
		}
	case []any:
		if len(fields) > 0 {
			h.ownedItems(value, fields)
			return
		}
	}
	h.leaves++
	h.any(value)
}

func (h *hasher) ownedKeys(value, fields map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(value)) {
		if below, ours := fields["f:"+key]; ours {
			h.any(key)
			h.owned(value[key], treeOf(below))
		}
	}
}

func (h *hasher) ownedItems(items []any, fields map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch {
		case strings.HasPrefix(name, "k:"):
			h.any(name)
			if item, found := itemWith(items, strings.TrimPrefix(name, "k:")); found {
				h.owned(item, treeOf(fields[name]))
			}
		case strings.HasPrefix(name, "v:"): // in a set, to be there is all
			h.leaves++
			h.any(name)
		}
	}
}

// itemWith returns the item of a list that has the given keys, which are a JSON object.
func itemWith(items []any, keys string) (any, bool) {
	var want map[string]any
	if err := json.Unmarshal([]byte(keys), &want); err != nil || len(want) == 0 {
		return nil, false
	}
	for _, item := range items {
		have, _ := item.(map[string]any)
		if !slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(key string) bool {
			return string(textOf(have[key])) != string(textOf(want[key]))
		}) {
			return item, true
		}
	}
	return nil, false
}

func treeOf(fields any) map[string]any {
	tree, _ := fields.(map[string]any)
	return tree
}

func (h *hasher) any(value any) {
	h.hash.Write(append(textOf(value), '\n'))
}

// textOf returns JSON with sorted keys, in which it does not matter whether a number is of this type or that.
func textOf(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Append(nil, value) // not reached: the value came as JSON
	}
	return data
}

// withoutBookkeeping returns what counts of a child of which nobody knows who set what.
func withoutBookkeeping(child *unstructured.Unstructured) map[string]any {
	out := maps.Clone(child.Object)
	delete(out, "status")
	if spec, ok := out["spec"].(map[string]any); ok {
		spec = maps.Clone(spec)
		delete(spec, "replicas")
		out["spec"] = spec
	}
	out["metadata"] = map[string]any{"labels": child.GetLabels(), "annotations": userAnnotations(child.GetAnnotations())}
	return out
}

func userAnnotations(annotations map[string]string) map[string]string {
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		domain, _, _ := strings.Cut(key, "/")
		domain = "." + domain
		return strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io")
	})
	return annotations
}
