package drift

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// schema tells how the lists of a type are merged. The zero value knows nothing.
type schema struct {
	lookup strategicpatch.LookupPatchMeta
}

func schemaOf(typed runtime.Object) (schema, error) {
	lookup, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return schema{}, err
	}
	return schema{lookup: lookup}, nil
}

func (s schema) known() bool { return s.lookup != nil }

// rule is how a field is merged.
type rule struct {
	schema           // of the field, or of the items of a list
	mergeKey  string // field that tells items apart
	merge     bool   // items of others survive
	exclusive bool   // the fields of an object exclude each other, as those of a volume do
}

// object returns the rule of a field that holds an object.
func (s schema) object(key string) rule {
	if !s.known() {
		return rule{}
	}
	return ruleOf(s.lookup.LookupPatchMetadataForStruct(key))
}

// list returns the rule of a field that holds a list.
func (s schema) list(key string) rule {
	if !s.known() {
		return rule{}
	}
	return ruleOf(s.lookup.LookupPatchMetadataForSlice(key))
}

func ruleOf(lookup strategicpatch.LookupPatchMeta, meta strategicpatch.PatchMeta, err error) rule {
	if err != nil {
		return rule{}
	}
	if of, ok := lookup.(strategicpatch.PatchMetaFromStruct); ok && isMap(of.T) {
		lookup = nil // labels, a ConfigMap's data: every key is the author's, none is left out for being empty
	}
	return rule{
		schema:    schema{lookup: lookup},
		mergeKey:  meta.GetPatchMergeKey(),
		merge:     slices.Contains(meta.GetPatchStrategies(), "merge"),
		exclusive: slices.Contains(meta.GetPatchStrategies(), "retainKeys"),
	}
}

func isMap(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Map
}
