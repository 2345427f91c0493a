package proxy

import (
	"encoding/json"
	"fmt"
	"mime"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// maxMetadata is how long an answer with nothing but metadata may be, in bytes. Objects are 1.5 MiB at most.
const maxMetadata = 4 << 20

// metadataIn reads the metadata of the object in a body and skips all the rest.
func metadataIn(contentType string, body []byte) (metav1.ObjectMeta, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" {
		return metav1.ObjectMeta{}, fmt.Errorf("read the type of a body: %w", err)
	}
	var obj metav1.PartialObjectMetadata
	switch media {
	case "", runtime.ContentTypeJSON:
		err = json.Unmarshal(body, &obj)
	case runtime.ContentTypeYAML, string(types.ApplyYAMLPatchType):
		err = yaml.Unmarshal(body, &obj)
	case runtime.ContentTypeCBOR, string(types.ApplyCBORPatchType):
		var all map[string]any // the decoder of CBOR does not skip what it does not know
		if err = direct.Unmarshal(body, &all); err == nil {
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(all, &obj)
		}
	case runtime.ContentTypeProtobuf:
		var envelope runtime.Unknown
		if envelope, err = openEnvelope(body); err == nil {
			err = obj.Unmarshal(envelope.Raw)
		}
	default:
		err = errNoObject
	}
	if err != nil {
		return metav1.ObjectMeta{}, fmt.Errorf("read the metadata in a body: %w", err)
	}
	return obj.ObjectMeta, nil
}

func decodeMetadata(body []byte) (*metav1.PartialObjectMetadata, error) {
	var obj metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &obj); err != nil {
		return nil, fmt.Errorf("read the metadata of an object: %w", err)
	}
	return &obj, nil
}
