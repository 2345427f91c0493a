package related

import (
	"crypto/sha256"
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// digest stands for what counts of an object: all but metadata, which others write as they please, and status.
type digest [16]byte

// record is what is kept of an object.
type record struct {
	version string // resourceVersion
	data    digest
	status  digest
}

func newRecord(obj *unstructured.Unstructured) record {
	data := make(map[string]any, len(obj.Object))
	for key, value := range obj.Object {
		switch key {
		case "apiVersion", "kind", "metadata", "status":
		default:
			data[key] = value
		}
	}
	return record{version: obj.GetResourceVersion(), data: digestOf(data), status: digestOf(obj.Object["status"])}
}

func digestOf(value any) digest {
	data, _ := json.Marshal(value) //nolint:errchkjson // came as JSON; keys are sorted
	sum := sha256.Sum256(data)
	return digest(sum[:16])
}

// same reports whether a and b differ in nothing that counts.
func same(a, b record, status bool) bool {
	return a.data == b.data && (!status || a.status == b.status)
}
