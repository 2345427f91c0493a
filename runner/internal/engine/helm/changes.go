package helm

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// What stands in the place of what a Secret holds.
const (
	hidden        = "[redacted]"
	hiddenChanged = "[redacted, changed]"
)

func stringReader(text string) io.Reader { return strings.NewReader(text) }

// changes compares the manifest of the last good revision with that of a next one.
func (r *run) changes(revision int) ([]Change, error) {
	out, err := r.definitionChanges()
	if err != nil {
		return nil, err
	}
	before := map[engine.Child]*unstructured.Unstructured{}
	if good := r.store.history.deployed(); good != nil {
		rel, err := r.store.load(good.version)
		if err != nil {
			return nil, err
		}
		old, err := r.objects(rel.Manifest)
		if err != nil {
			return nil, err
		}
		for _, obj := range old {
			before[identity(obj)] = obj
		}
	}
	next, err := r.render(revision)
	if err != nil {
		return nil, err
	}
	manifest, err := r.withGenerated(next.manifest())
	if err != nil {
		return nil, err
	}
	objects, err := r.objects(manifest)
	if err != nil {
		return nil, err
	}
	out = append(out, pairUp(objects, before)...)
	for _, old := range before {
		verb := "delete"
		if kept(old) {
			verb = "keep"
		}
		text, _ := hide(old, nil)
		out = append(out, Change{Child: childNamed(old), Verb: verb, Before: text})
	}
	slices.SortStableFunc(out, func(a, b Change) int {
		return strings.Compare(rank(a.Verb)+a.Child.GVK.Kind+a.Child.Namespace+a.Child.Name, rank(b.Verb)+b.Child.GVK.Kind+b.Child.Namespace+b.Child.Name)
	})
	return out, nil
}

// withGenerated returns a manifest with what an upgrade keeps of values that templates made up.
func (r *run) withGenerated(manifest string) (string, error) {
	keep, err := r.keepGenerated()
	if err != nil || keep == nil {
		return manifest, err
	}
	out, err := keep.Run(bytes.NewBufferString(manifest))
	if err != nil {
		return "", err
	}
	return out.String(), nil
}

// rank puts deletions last.
func rank(verb string) string {
	if verb == "delete" || verb == "keep" {
		return "1"
	}
	return "0"
}

// pairUp returns what becomes of the objects of a next revision, and takes them out of before.
func pairUp(objects []*unstructured.Unstructured, before map[engine.Child]*unstructured.Unstructured) []Change {
	var out []Change
	for _, obj := range objects {
		child, old := childNamed(obj), before[identity(obj)]
		delete(before, identity(obj))
		after, was := hide(obj, old)
		switch {
		case old == nil:
			out = append(out, Change{Child: child, Verb: "create", After: after})
		case was != after:
			out = append(out, Change{Child: child, Verb: "change", Before: was, After: after})
		}
	}
	return out
}

// identity names an object whatever version of its API a manifest uses.
func identity(obj *unstructured.Unstructured) engine.Child {
	child := childNamed(obj)
	child.GVK.Version = ""
	return child
}

func childNamed(obj *unstructured.Unstructured) engine.Child {
	return engine.Child{GVK: obj.GroupVersionKind(), Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// objects reads a manifest, whose kinds the cluster may not have yet.
func (r *run) objects(manifest string) ([]*unstructured.Unstructured, error) {
	documents := releaseutil.SplitManifests(manifest)
	names := slices.SortedFunc(maps.Keys(documents), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	var out []*unstructured.Unstructured
	for _, name := range names {
		var fields map[string]any
		if err := yaml.Unmarshal([]byte(documents[name]), &fields); err != nil {
			return nil, fmt.Errorf("read the manifest: %w", err)
		}
		if len(fields) == 0 {
			continue
		}
		obj := &unstructured.Unstructured{Object: fields}
		if !obj.IsList() {
			out = append(out, r.placed(obj))
			continue
		}
		if err := obj.EachListItem(func(item runtime.Object) error {
			if one, ok := item.(*unstructured.Unstructured); ok {
				out = append(out, r.placed(one))
			}
			return nil
		}); err != nil {
			return nil, fmt.Errorf("read a list of the manifest: %w", err)
		}
	}
	return out, nil
}

// placed puts an object into the release's namespace where its template names none.
func (r *run) placed(obj *unstructured.Unstructured) *unstructured.Unstructured {
	gvk := obj.GroupVersionKind()
	mapping, err := r.getter.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if obj.GetNamespace() == "" && err == nil && mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		obj.SetNamespace(r.namespace)
	}
	return obj
}

// hide writes an object, and its older state if there is one, as YAML without what a Secret holds.
func hide(obj, old *unstructured.Unstructured) (text, oldText string) {
	obj = obj.DeepCopy()
	if old != nil {
		old = old.DeepCopy()
	}
	if obj.GroupVersionKind().Group == "" && obj.GetKind() == "Secret" {
		for _, field := range []string{"data", "stringData"} {
			hideField(obj, old, field)
		}
	}
	text = asYAML(obj)
	if old != nil {
		oldText = asYAML(old)
	}
	return text, oldText
}

func hideField(obj, old *unstructured.Unstructured, field string) {
	values, _, _ := unstructured.NestedMap(obj.Object, field)
	var oldValues map[string]any
	if old != nil {
		oldValues, _, _ = unstructured.NestedMap(old.Object, field)
	}
	for key, value := range values {
		before, was := oldValues[key]
		values[key] = hidden
		if was && before != value {
			values[key] = hiddenChanged
		}
	}
	for key := range oldValues {
		oldValues[key] = hidden
	}
	if values != nil {
		obj.Object[field] = values
	}
	if oldValues != nil {
		old.Object[field] = oldValues
	}
}

func asYAML(obj *unstructured.Unstructured) string {
	text, err := yaml.Marshal(obj.Object)
	if err != nil {
		return fmt.Sprintf("# cannot be written: %v\n", err)
	}
	return string(text)
}

// definitionChanges returns the chart's definitions that an install or upgrade would make or replace.
func (r *run) definitionChanges() ([]Change, error) {
	if r.e.cfg.CRDs == CRDSkip {
		return nil, nil
	}
	wanted, err := r.definitions()
	if err != nil || len(wanted) == 0 {
		return nil, err
	}
	lives, errs := r.readAll(wanted)
	var out []Change
	for i, info := range wanted {
		if err := r.checkDefinition(info, lives[i], errs[i]); err != nil {
			return nil, err
		}
		switch {
		case errs[i] != nil: // see checkDefinition
		case lives[i] == nil:
			out = append(out, Change{Child: childOf(info), Verb: "create"})
		case r.e.cfg.CRDs == CRDReplace:
			out = append(out, Change{Child: childOf(info), Verb: "change", Before: asYAML(specOf(lives[i])), After: asYAML(specOf(replacement(object(info), lives[i])))})
		}
	}
	return slices.DeleteFunc(out, func(c Change) bool { return c.Verb == "change" && c.Before == c.After }), nil
}

// specOf returns what a chart says of a definition.
func specOf(crd *unstructured.Unstructured) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"spec": crd.Object["spec"]}}
}

// HideSecrets returns a manifest without what its Secrets hold. Other documents stay as they are.
func HideSecrets(manifest string) string {
	documents := strings.Split("\n"+manifest, "\n---\n")
	for i, document := range documents {
		if !strings.Contains(document, "Secret") {
			continue
		}
		var fields map[string]any
		if err := yaml.Unmarshal([]byte(document), &fields); err != nil || fields["kind"] != "Secret" {
			continue
		}
		text, _ := hide(&unstructured.Unstructured{Object: fields}, nil)
		if source, _, found := strings.Cut(strings.TrimLeft(document, "\n"), "\n"); found && strings.HasPrefix(source, "# Source: ") {
			text = source + "\n" + text
		}
		documents[i] = strings.TrimSuffix(text, "\n")
		if i == len(documents)-1 {
			documents[i] = text
		}
	}
	return strings.TrimPrefix(strings.Join(documents, "\n---\n"), "\n")
}
