package proxy

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// decodeAny reads an object in any format that needs no knowledge of its type. Patches in JSON are objects too, save
// those that are lists of changes.
func decodeAny(media string, body []byte) (map[string]any, error) {
	var obj map[string]any
	var err error
	switch media {
	case "", runtime.ContentTypeJSON, string(types.MergePatchType), string(types.StrategicMergePatchType):
		err = json.Unmarshal(body, &obj)
	case runtime.ContentTypeYAML, string(types.ApplyYAMLPatchType):
		err = yaml.Unmarshal(body, &obj)
	case runtime.ContentTypeCBOR, string(types.ApplyCBORPatchType):
		err = direct.Unmarshal(body, &obj)
	default:
		err = errNoObject
	}
	if err == nil && obj == nil {
		err = errNoObject
	}
	if err != nil {
		return nil, fmt.Errorf("read a body: %w", err)
	}
	return obj, nil
}

// protobufSecrets returns the Secrets in a protobuf body.
func protobufSecrets(body []byte) ([]map[string]any, error) {
	envelope, err := openEnvelope(body)
	if err != nil {
		return nil, err
	}
	var list corev1.SecretList
	switch envelope.Kind {
	case "Secret":
		list.Items = make([]corev1.Secret, 1)
		err = list.Items[0].Unmarshal(envelope.Raw)
	case "SecretList":
		err = list.Unmarshal(envelope.Raw)
	}
	if err != nil {
		return nil, fmt.Errorf("read Secrets in a protobuf body: %w", err)
	}
	var objects []map[string]any
	for i := range list.Items {
		obj, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&list.Items[i])
		if err != nil {
			return nil, fmt.Errorf("convert a Secret: %w", err)
		}
		objects = append(objects, obj)
	}
	return asSecrets(objects...), nil
}
