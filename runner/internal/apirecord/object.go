package apirecord

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"sigs.k8s.io/yaml"
)

// protobufMagic is what every protobuf message of the Kubernetes API begins with.
var protobufMagic = []byte("k8s\x00")

var errUnknownFormat = errors.New("format is none that the Kubernetes API uses")

// decodeObject reads the kind and metadata of an object and skips all the rest.
func decodeObject(contentType string, body []byte) (metav1.PartialObjectMetadata, error) {
	var obj metav1.PartialObjectMetadata
	if mediaType(contentType) != runtime.ContentTypeProtobuf {
		return obj, decodeInto(contentType, body, &obj)
	}
	envelope, err := decodeEnvelope(body)
	if err != nil {
		return obj, err
	}
	obj.APIVersion, obj.Kind = envelope.APIVersion, envelope.Kind
	if obj.Kind == "Status" {
		return obj, nil
	}
	// In every object of the Kubernetes API the metadata is field 1, as it is in PartialObjectMetadata.
	if err := obj.Unmarshal(envelope.Raw); err != nil {
		return obj, fmt.Errorf("read the metadata of a protobuf %s: %w", obj.Kind, err)
	}
	return obj, nil
}

// decodeList reads the metadata of the objects in a list.
func decodeList(contentType string, body []byte) (metav1.PartialObjectMetadataList, error) {
	var list metav1.PartialObjectMetadataList
	if mediaType(contentType) != runtime.ContentTypeProtobuf {
		return list, decodeInto(contentType, body, &list)
	}
	envelope, err := decodeEnvelope(body)
	if err != nil || envelope.Kind == "Status" {
		return list, err
	}
	// In every list of the Kubernetes API the items are field 2, as they are in PartialObjectMetadataList.
	if err := list.Unmarshal(envelope.Raw); err != nil {
		return list, fmt.Errorf("read the metadata of a protobuf %s: %w", envelope.Kind, err)
	}
	return list, nil
}

// decodeStatus reads an answer of kind Status.
func decodeStatus(contentType string, body []byte) (metav1.Status, error) {
	var status metav1.Status
	if mediaType(contentType) != runtime.ContentTypeProtobuf {
		return status, decodeInto(contentType, body, &status)
	}
	envelope, err := decodeEnvelope(body)
	if err != nil {
		return status, err
	}
	if err := status.Unmarshal(envelope.Raw); err != nil {
		return status, fmt.Errorf("read a protobuf Status: %w", err)
	}
	return status, nil
}

func decodeInto(contentType string, body []byte, into any) error {
	switch mediaType(contentType) {
	case runtime.ContentTypeJSON:
		return json.Unmarshal(body, into)
	case runtime.ContentTypeYAML:
		return yaml.Unmarshal(body, into)
	case runtime.ContentTypeCBOR:
		return decodeCBOR(body, into)
	default:
		return fmt.Errorf("read an answer of type %q: %w", contentType, errUnknownFormat)
	}
}

// decodeCBOR reads what it knows of an object and skips all the rest, which the decoder of CBOR by itself refuses.
func decodeCBOR(body []byte, into any) error {
	var all map[string]any
	if err := direct.Unmarshal(body, &all); err != nil {
		return fmt.Errorf("read a CBOR answer: %w", err)
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(all, into)
}

func decodeEnvelope(body []byte) (runtime.Unknown, error) {
	var envelope runtime.Unknown
	raw, found := bytes.CutPrefix(body, protobufMagic)
	if !found {
		return envelope, fmt.Errorf("read a protobuf answer: %w", errUnknownFormat)
	}
	if err := envelope.Unmarshal(raw); err != nil {
		return envelope, fmt.Errorf("read the envelope of a protobuf answer: %w", err)
	}
	return envelope, nil
}

// readable reports whether an answer of this type is one object that decodeObject can read. Streams are not.
func readable(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || params["stream"] != "" {
		return false
	}
	switch media {
	case runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf, runtime.ContentTypeCBOR:
		return true
	}
	return false
}

func mediaType(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return media
}
