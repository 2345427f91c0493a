package status

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Store is where objects are: the API server.
type Store interface {
	// Get reads the object that obj names, not from a cache.
	Get(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Patch sends a JSON merge patch for the object that obj names, or for its subresource if that is not empty, and
	// returns the object as it is then.
	Patch(ctx context.Context, obj *unstructured.Unstructured, subresource string, patch []byte) (*unstructured.Unstructured, error)
}

// FieldManager is the name under which status is written.
const FieldManager = "chartbook"

// ClientStore is the Store behind a controller-runtime client.
type ClientStore struct {
	// Client sends patches.
	Client client.Client
	// Live reads past the cache, as a manager's APIReader does.
	Live client.Reader
}

// Get implements [Store].
func (s ClientStore) Get(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	fresh := named(obj)
	return fresh, s.Live.Get(ctx, client.ObjectKeyFromObject(obj), fresh)
}

// Patch implements [Store].
func (s ClientStore) Patch(ctx context.Context, obj *unstructured.Unstructured, subresource string, patch []byte) (*unstructured.Unstructured, error) {
	fresh := named(obj)
	merge := client.RawPatch(types.MergePatchType, patch)
	if subresource == "" {
		return fresh, s.Client.Patch(ctx, fresh, merge, client.FieldOwner(FieldManager))
	}
	return fresh, s.Client.SubResource(subresource).Patch(ctx, fresh, merge, client.FieldOwner(FieldManager))
}

// named returns an object that has nothing but the identity of obj.
func named(obj *unstructured.Unstructured) *unstructured.Unstructured {
	fresh := &unstructured.Unstructured{}
	fresh.SetGroupVersionKind(obj.GroupVersionKind())
	fresh.SetNamespace(obj.GetNamespace())
	fresh.SetName(obj.GetName())
	return fresh
}
