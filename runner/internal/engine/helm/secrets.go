package helm

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientv1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// maxSecret is what the API server takes as the data of one Secret.
const maxSecret = 1 << 20

var errTooLarge = errors.New("the release record is larger than a Secret can be")

// ownedSecrets writes release Secrets for Helm such that they go with their owner. Helm writes each anew and forgets
// what it did not put there itself, so the owner is added each time.
type ownedSecrets struct {
	clientv1.SecretInterface
	owner     engine.Owner
	namespace string                    // of the records
	before    func(name string) *record // as last seen; nil if new
	holding   *holding
	exact     *bool // write only over what was seen
}

// Create implements SecretInterface.
func (s ownedSecrets) Create(ctx context.Context, secret *corev1.Secret, opts metav1.CreateOptions) (*corev1.Secret, error) {
	if err := s.prepare(secret); err != nil {
		return nil, err
	}
	return s.SecretInterface.Create(ctx, secret, opts)
}

// Update implements SecretInterface.
func (s ownedSecrets) Update(ctx context.Context, secret *corev1.Secret, opts metav1.UpdateOptions) (*corev1.Secret, error) {
	if err := s.prepare(secret); err != nil {
		return nil, err
	}
	if old := s.before(secret.Name); *s.exact && old != nil {
		secret.ResourceVersion = old.seen
	}
	return s.SecretInterface.Update(ctx, secret, opts)
}

func (s ownedSecrets) prepare(secret *corev1.Secret) error {
	size := 0
	for _, value := range secret.Data {
		size += len(value)
	}
	if size > maxSecret {
		return errTooLarge
	}
	var others []metav1.OwnerReference
	if old := s.before(secret.Name); old != nil {
		for _, ref := range old.owners {
			if ref.Controller == nil || !*ref.Controller {
				others = append(others, ref)
			}
		}
		if created, ok := old.labels["createdAt"]; ok {
			secret.Labels["createdAt"] = created
		}
	}
	s.holding.mark(secret)
	switch {
	case s.owner.UID == "": // not in the cluster
		secret.OwnerReferences = others
		return nil
	case s.owner.Namespace == "" || s.owner.Namespace == s.namespace:
		secret.OwnerReferences = withOwner(others, s.owner)
		return nil
	}
	text, err := writeRemoteOwner(s.owner)
	if err != nil {
		return err
	}
	secret.OwnerReferences = others
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, ownerAnnotation, text)
	return nil
}
