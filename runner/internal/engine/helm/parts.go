package helm

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// A manifest that no Secret can hold is kept in several, compressed and cut. They are named after what they hold, so
// that the revisions of one manifest share them, and a record has a label that leads to them. Stock Helm does not see
// them: it has the manifest's outline in the record.
const (
	partsLabel   = "chartbook.dev/parts"   // on records and parts: the digest of the manifest
	releaseLabel = "chartbook.dev/release" // on parts: the name of the release
	partType     = "chartbook.dev/release-part"
	partKey      = "part"
	partNumber   = "number"
	maxPart      = 1000 << 10 // bytes of a part; a Secret takes 1 MiB
	maxParts     = 64
)

var errParts = errors.New("the rendered manifest is larger than all that can be kept of a release")

// keepParts keeps a manifest and returns the label that leads to it.
func (s *store) keepParts(manifest string) (string, error) {
	var zipped bytes.Buffer
	writer, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err == nil {
		_, err = writer.Write([]byte(manifest))
	}
	if err = errors.Join(err, writer.Close()); err != nil {
		return "", fmt.Errorf("compress the manifest: %w", err)
	}
	digest := part([]byte(manifest))
	number := 0
	for piece := range slices.Chunk(zipped.Bytes(), maxPart) {
		if number == maxParts {
			return "", errParts
		}
		secret := s.newPart(digest, number, piece)
		if _, err := s.secrets.Create(s.ctx, secret, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return "", fmt.Errorf("keep part %d of the manifest of release %s: %w", number, s.name, err)
		}
		number++
	}
	return digest, nil
}

// newPart returns the Secret of one part. It goes with the resource, where that can be told to the garbage collector.
func (s *store) newPart(digest string, number int, data []byte) *corev1.Secret {
	secret := &corev1.Secret{Type: partType, Data: map[string][]byte{partKey: data, partNumber: []byte(strconv.Itoa(number))}}
	secret.Name = fmt.Sprintf("chartbook.release.%s.%s.%d", s.name, digest, number)
	secret.Labels = map[string]string{partsLabel: digest, releaseLabel: s.name}
	if s.owner.UID != "" && (s.owner.Namespace == "" || s.owner.Namespace == s.namespace) {
		ref := reference(s.owner)
		ref.Controller = nil
		secret.OwnerReferences = []metav1.OwnerReference{ref}
	}
	return secret
}

// readParts returns the manifest that a label leads to. The outline has to do where parts of it are gone.
func (s *store) readParts(digest string) (string, error) {
	list, err := s.secrets.List(s.ctx, metav1.ListOptions{LabelSelector: labels.Set{partsLabel: digest, releaseLabel: s.name}.String()})
	if err != nil {
		return "", fmt.Errorf("read the manifest of release %s: %w", s.name, err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Secret) int { return cmp.Compare(numberOf(a), numberOf(b)) })
	var zipped []byte
	for _, secret := range list.Items {
		zipped = append(zipped, secret.Data[partKey]...)
	}
	plain, err := gunzip(zipped)
	if err != nil || part(plain) != digest {
		return "", fmt.Errorf("read the manifest of release %s in %d parts: %w", s.name, len(list.Items), errCorrupt)
	}
	return string(plain), nil
}

func numberOf(part corev1.Secret) int {
	number, _ := strconv.Atoi(string(part.Data[partNumber]))
	return number
}

// dropParts deletes the parts that no revision leads to. That they are left is untidy and no more.
func (s *store) dropParts() {
	list, err := s.meta.List(s.ctx, metav1.ListOptions{LabelSelector: labels.Set{releaseLabel: s.name}.String()})
	if err != nil {
		s.log("parts of the manifest of release %s are left: %v", s.name, err)
		return
	}
	for i := range list.Items {
		item := &list.Items[i]
		if s.leadsTo(item.Labels[partsLabel]) {
			continue
		}
		if err := s.secrets.Delete(s.ctx, item.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			s.log("Secret %s is left: %v", item.Name, err)
		}
	}
}

// leadsTo reports whether a revision has its manifest in these parts.
func (s *store) leadsTo(digest string) bool {
	return slices.ContainsFunc(s.history, func(r record) bool { return r.labels[partsLabel] == digest })
}
