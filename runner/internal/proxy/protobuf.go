package proxy

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// protobufMagic is what every protobuf message of the Kubernetes API begins with.
var protobufMagic = []byte("k8s\x00")

// Field numbers in the Kubernetes API: of the metadata in every object, and within the metadata.
const (
	fieldMetadata        = 1
	fieldAnnotations     = 12
	fieldOwnerReferences = 13
	fieldKey, fieldValue = 1, 2 // of an entry of a map
)

// encodeProtobuf returns the body of a request with the mark on the object in it. The object's own type need not be
// known: a message that appears twice in protobuf counts as one with the fields of both, so metadata with nothing
// but the mark in it is put behind the object.
func (m mark) encodeProtobuf(body []byte) ([]byte, error) {
	envelope, err := openEnvelope(body)
	if err != nil {
		return nil, err
	}
	var obj metav1.PartialObjectMetadata
	if err := obj.Unmarshal(envelope.Raw); err != nil {
		return nil, fmt.Errorf("read the metadata in a protobuf body: %w", err)
	}
	metadata, err := m.protobuf(obj.OwnerReferences)
	if err != nil || metadata == nil {
		return body, err
	}
	envelope.Raw = appendMessage(envelope.Raw, fieldMetadata, metadata)
	out, err := envelope.Marshal()
	if err != nil {
		return nil, fmt.Errorf("write a protobuf body: %w", err)
	}
	return append(bytes.Clone(protobufMagic), out...), nil
}

// openEnvelope reads what every protobuf message of the Kubernetes API is wrapped in.
func openEnvelope(body []byte) (runtime.Unknown, error) {
	var envelope runtime.Unknown
	raw, ok := bytes.CutPrefix(body, protobufMagic)
	if !ok {
		return envelope, errNoObject
	}
	if err := envelope.Unmarshal(raw); err != nil {
		return envelope, fmt.Errorf("read a protobuf body: %w", err)
	}
	return envelope, nil
}

// protobuf returns metadata with nothing but the mark in it, or nil if it is there already.
func (m mark) protobuf(have []metav1.OwnerReference) ([]byte, error) {
	if m.reference != nil {
		if slices.ContainsFunc(have, func(ref metav1.OwnerReference) bool { return ref.UID == m.reference.UID }) {
			return nil, nil
		}
		reference, err := m.reference.Marshal()
		if err != nil {
			return nil, fmt.Errorf("write an owner reference: %w", err)
		}
		return appendMessage(nil, fieldOwnerReferences, reference), nil
	}
	var metadata []byte
	for _, key := range slices.Sorted(maps.Keys(m.annotations)) {
		entry := appendMessage(nil, fieldKey, []byte(key))
		entry = appendMessage(entry, fieldValue, []byte(m.annotations[key]))
		metadata = appendMessage(metadata, fieldAnnotations, entry)
	}
	return metadata, nil
}

func appendMessage(to []byte, field protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), message)
}
