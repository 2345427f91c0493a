package status

import (
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// maxOutputs bounds status.outputs in bytes of JSON.
const maxOutputs = 64 << 10

// outputs sets status.outputs. Outputs that are too large are left out as a whole: half of them would mislead. Ready
// says so.
func (d *draft) outputs() {
	if d.in.Phase != Done || d.in.Result.Outputs == nil {
		return
	}
	delete(d.next, "outputs")
	clean, err := d.normalize(d.in.Result.Outputs)
	switch {
	case err != nil:
		d.notes = "status.outputs is left out: " + err.Error()
	case len(clean) > 0:
		d.next["outputs"] = clean
	}
}

// normalize gives outputs the types that the API server will give back, so that equal outputs compare equal. Keys
// without a value are dropped, for in a merge patch they would mean deletion.
func (d *draft) normalize(outputs map[string]any) (map[string]any, error) {
	text, err := utiljson.Marshal(outputs)
	if err != nil {
		return nil, fmt.Errorf("they are no JSON: %w", err)
	}
	if len(text) > maxOutputs {
		return nil, fmt.Errorf("they take %d bytes, the limit is %d", len(text), maxOutputs)
	}
	var clean map[string]any
	if err := utiljson.Unmarshal(text, &clean); err != nil {
		return nil, fmt.Errorf("they are no JSON: %w", err)
	}
	return object(d.tidy(clean)), nil
}

// tidy redacts texts and drops keys without a value.
func (d *draft) tidy(value any) any {
	switch v := value.(type) {
	case string:
		if d.in.Redact != nil {
			return d.in.Redact(v)
		}
	case []any:
		for i := range v {
			v[i] = d.tidy(v[i])
		}
	case map[string]any:
		for key, item := range v {
			if item == nil {
				delete(v, key)
				continue
			}
			v[key] = d.tidy(item)
		}
	}
	return value
}
