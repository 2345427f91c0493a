package controller

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/chartbook-operator/chartbook/runner/watches"
)

// newPrimaryCache makes the cache of one watch's resources. Each watch has its own, made when its kind is served: the
// manager's common cache would have to know all kinds when the process starts.
func newPrimaryCache(mgr manager.Manager, w watches.Watch, selector labels.Selector, namespaces []string, told *watchErrors) (cache.Cache, error) {
	options := cache.Options{
		HTTPClient:               mgr.GetHTTPClient(),
		Scheme:                   mgr.GetScheme(),
		Mapper:                   mgr.GetRESTMapper(),
		DefaultTransform:         cache.TransformStripManagedFields(),
		DefaultWatchErrorHandler: told.handle,
	}
	switch {
	case selector.Empty():
	case w.Finalizer == nil && w.Chart == "" && len(w.Siblings) == 0:
		options.DefaultLabelSelector = selector
	default:
		options.DefaultTransform = stripUnselected(selector)
	}
	if len(namespaces) > 0 {
		options.DefaultNamespaces = map[string]cache.Config{}
		for _, namespace := range namespaces {
			options.DefaultNamespaces[namespace] = cache.Config{}
		}
	}
	c, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, fmt.Errorf("make the cache of %s: %w", w.GVK, err)
	}
	return c, nil
}

// stripUnselected keeps resources outside the selector without their content, which may be large or secret.
//
// A watch with a finalizer has to see all resources of its kind: one that leaves the selector still has to be cleaned
// up and let go, even if it left while the operator was down. One of several watches of a kind must not take a resource
// for gone that has become another one's.
func stripUnselected(selector labels.Selector) toolscache.TransformFunc {
	strip := cache.TransformStripManagedFields()
	return func(in any) (any, error) {
		out, err := strip(in)
		if obj, ok := out.(*unstructured.Unstructured); ok && err == nil && !selector.Matches(labels.Set(obj.GetLabels())) {
			dropContent(obj)
		}
		return out, err
	}
}

func dropContent(obj *unstructured.Unstructured) {
	for key := range obj.Object {
		switch key {
		case "apiVersion", "kind", "metadata":
		default:
			delete(obj.Object, key)
		}
	}
}
