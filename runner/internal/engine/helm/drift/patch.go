package drift

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Patch brings a live object to what its manifest asks for.
type Patch struct {
	Type types.PatchType
	Data []byte
	// Fields are the paths of the fields that differ.
	Fields []string
	// Signature is the same for the same patch to the same live values. Where a patch changed nothing, the API
	// server writes the wanted value in another way, and the next patch with this signature can be left out.
	Signature string
}

// Diff compares the object with its live state. It reports false if nothing has to be done.
func (o *Object) Diff(live *unstructured.Unstructured) (Patch, bool, error) {
	d := &differ{strategic: o.schema.known()}
	changes := d.object("", o.want, live.Object, o.schema)
	if changes == nil {
		return Patch{}, false, nil
	}
	body := fieldsOf(directives(changes))
	data, err := json.Marshal(body)
	if err != nil {
		return Patch{}, false, fmt.Errorf("write the patch of %s %s: %w", live.GetKind(), live.GetName(), err)
	}
	patch := Patch{Type: types.MergePatchType, Data: data, Fields: d.paths}
	if d.strategic {
		patch.Type = types.StrategicMergePatchType
	}
	patch.Signature, err = sign(data, touched(body, live.Object))
	return patch, true, err
}

// directives writes ordered lists as the API server wants them: the order stands beside the list.
func directives(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if list, ok := value.(orderedList); ok {
				v["$setElementOrder/"+key] = list.order()
				value = list.patches
			}
			v[key] = directives(value)
		}
		return v
	case []any:
		for i := range v {
			v[i] = directives(v[i])
		}
		return v
	default:
		return v
	}
}

// touched returns the live values at the places of a patch.
func touched(patch, live map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range patch {
		sub, ok := value.(map[string]any)
		current, also := live[key].(map[string]any)
		if ok && also {
			out[key] = touched(sub, current)
		} else {
			out[key] = live[key]
		}
	}
	return out
}

func sign(patch []byte, live map[string]any) (string, error) {
	state, err := json.Marshal(live)
	if err != nil {
		return "", fmt.Errorf("sign a patch: %w", err)
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%d:", len(patch))
	hash.Write(patch)
	hash.Write(state)
	return hex.EncodeToString(hash.Sum(nil)), nil
}
