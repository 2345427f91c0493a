package release

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
)

// pageSize is how many resources are asked for at a time.
const pageSize = 500

// Kind is a kind of resource and the finalizers to take off.
type Kind struct {
	GVK        schema.GroupVersionKind
	Finalizers []string
}

// Held is a resource that has some of these finalizers.
type Held struct {
	Kind
	Namespace, Name string
	UID             types.UID
	// On are those of the kind's finalizers that it has; Others are somebody else's and stay.
	On, Others []string
	// Deleting says that the resource goes as soon as nothing holds it.
	Deleting bool

	resource metadata.ResourceInterface
	version  string
}

// Cluster is where resources are.
type Cluster struct {
	// Metadata reads and patches metadata alone: neither specs nor Secrets are asked for.
	Metadata metadata.Interface
	Mapper   meta.RESTMapper
	// Namespaces to look into. Empty means all, and resources without a namespace, too.
	Namespaces []string
}

// Find tells of each resource of a kind that is held, a page at a time. served is false when the API server does not know
// the kind: then there are no resources of it.
func (c Cluster) Find(ctx context.Context, kind Kind, tell func(Held)) (served bool, err error) {
	mapping, err := c.Mapper.RESTMapping(kind.GVK.GroupKind(), kind.GVK.Version)
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask for the kind %s: %w", kind.GVK, err)
	}
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	places := []string{""}
	if len(c.Namespaces) > 0 {
		places = c.Namespaces
		if !namespaced {
			return true, nil
		}
	}
	for _, namespace := range places {
		if err := c.list(ctx, c.Metadata.Resource(mapping.Resource), namespace, kind, tell); err != nil {
			return true, err
		}
	}
	return true, nil
}

func (c Cluster) list(ctx context.Context, client metadata.Getter, namespace string, kind Kind, tell func(Held)) error {
	options := metav1.ListOptions{Limit: pageSize}
	for {
		list, err := client.Namespace(namespace).List(ctx, options)
		if apierrors.IsNotFound(err) { // the CRD has just gone
			return nil
		}
		if err != nil {
			return fmt.Errorf("list resources of kind %s: %w", kind.GVK.Kind, err)
		}
		for i := range list.Items {
			item := &list.Items[i]
			held := Held{Kind: kind, Namespace: item.Namespace, Name: item.Name, UID: item.UID, resource: client.Namespace(item.Namespace)}
			held.read(item)
			if len(held.On) > 0 {
				tell(held)
			}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return nil
		}
	}
}

// read takes in the newest state of the resource.
func (h *Held) read(obj *metav1.PartialObjectMetadata) {
	h.On, h.Others = nil, nil
	h.Deleting, h.version = obj.DeletionTimestamp != nil, obj.ResourceVersion
	for _, name := range obj.Finalizers {
		if slices.Contains(h.Finalizers, name) {
			h.On = append(h.On, name)
		} else {
			h.Others = append(h.Others, name)
		}
	}
}
