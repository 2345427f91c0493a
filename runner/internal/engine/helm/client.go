package helm

import (
	"context"
	"io"
	"sync"
	"time"

	"helm.sh/helm/v3/pkg/kube"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/resource"
)

// client is Helm's client for one run. It marks objects with their owner, waits on events rather than by the clock,
// ends with the run and remembers what Helm only logs.
//
// Helm's client is embedded, so that the interfaces that Helm looks for by type (deletion with propagation, hook
// logs, waiting for deletion) stay visible.
type client struct {
	*kube.Client
	ctx     context.Context //nolint:containedctx // Helm's interface passes none on
	getter  *getter
	marks   marks
	tell    *teller
	updated bool // objects were changed, not only created
	// adoptable, if set, says what keeps objects that are about to be applied from being taken over.
	adoptable func(kube.ResourceList) error
	// installedCRDs is called when the kinds of a chart's crds directory are served.
	installedCRDs func()

	mu       sync.Mutex
	failures []error // of deletions, which Helm logs only
}

var (
	_ kube.Interface                    = (*client)(nil)
	_ kube.InterfaceExt                 = (*client)(nil)
	_ kube.InterfaceThreeWayMerge       = (*client)(nil)
	_ kube.InterfaceLogs                = (*client)(nil)
	_ kube.InterfaceDeletionPropagation = (*client)(nil)
	_ kube.InterfaceResources           = (*client)(nil)
)

// IsReachable asks nothing: the first request of the action tells the same.
func (c *client) IsReachable() error { return c.ctx.Err() }

// Build reads a manifest and marks its objects. When Helm does not ask for validation it reads a stored manifest
// for comparing or deleting; objects of kinds that the cluster no longer has are left out then, for they are gone.
func (c *client) Build(manifest io.Reader, validate bool) (kube.ResourceList, error) {
	infos, err := c.read(manifest)
	if !validate {
		err = utilerrors.FilterOut(err, meta.IsNoMatchError)
	}
	if err == nil && validate && c.adoptable != nil {
		err = c.adoptable(infos)
	}
	if err != nil {
		return nil, err
	}
	return infos, nil
}

// read returns the marked objects of a manifest, also when there is an error about others.
func (c *client) read(manifest io.Reader) (kube.ResourceList, error) {
	infos, err := c.parse(manifest)
	for _, info := range infos {
		if obj := object(info); obj != nil {
			c.marks.put(obj, info.Mapping.Scope.Name() == meta.RESTScopeNameNamespace)
		}
	}
	return infos, err
}

// parse returns the objects of a manifest as they are.
func (c *client) parse(manifest io.Reader) (kube.ResourceList, error) {
	return c.getter.NewBuilder().
		Unstructured().
		ContinueOnError().
		NamespaceParam(c.Namespace).DefaultNamespace().
		Flatten().
		Stream(manifest, "").
		Do().Infos()
}

// Update changes objects and remembers that it did: an install that does so has adopted what was there.
func (c *client) Update(original, target kube.ResourceList, force bool) (*kube.Result, error) {
	c.updated = true
	update := func() (*kube.Result, error) { return c.Client.Update(original, target, false) }
	if !force {
		return update()
	}
	return c.forced(target, update)
}

// UpdateThreeWayMerge is as Update, for objects that are taken over.
func (c *client) UpdateThreeWayMerge(original, target kube.ResourceList, force bool) (*kube.Result, error) {
	c.updated = true
	return c.Client.UpdateThreeWayMerge(original, target, force)
}

// Delete deletes objects and keeps the errors.
func (c *client) Delete(resources kube.ResourceList) (*kube.Result, []error) {
	return c.DeleteWithPropagationPolicy(resources, metav1.DeletePropagationBackground)
}

// DeleteWithPropagationPolicy deletes objects and keeps the errors.
func (c *client) DeleteWithPropagationPolicy(resources kube.ResourceList, policy metav1.DeletionPropagation) (*kube.Result, []error) {
	if len(resources) == 0 {
		return &kube.Result{}, nil
	}
	result, errs := c.Client.DeleteWithPropagationPolicy(resources, policy)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = append(c.failures, errs...)
	return result, errs
}

// deletionFailures returns the errors of all deletions of the run.
func (c *client) deletionFailures() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]error(nil), c.failures...)
}

// WatchUntilReady waits until the Jobs and Pods of a hook have ended well.
func (c *client) WatchUntilReady(resources kube.ResourceList, timeout time.Duration) error {
	for _, info := range resources {
		if !runsToEnd(info) {
			continue
		}
		done := c.tell.hook(info)
		err := c.await(info, timeout, hookState)
		done(err)
		if err != nil {
			return err
		}
	}
	return nil
}

// WaitForDelete waits until objects are gone.
func (c *client) WaitForDelete(resources kube.ResourceList, timeout time.Duration) error {
	for _, info := range resources {
		if err := c.await(info, timeout, goneState); err != nil {
			return err
		}
	}
	return nil
}

// Wait waits for CRDs to be served, which is the only thing that our actions wait for.
func (c *client) Wait(resources kube.ResourceList, timeout time.Duration) error {
	for _, info := range resources {
		if err := c.await(info, timeout, establishedState); err != nil {
			return err
		}
	}
	if c.installedCRDs != nil {
		c.installedCRDs()
	}
	return nil
}

// object returns the manifest of a resource.
func object(info *resource.Info) *unstructured.Unstructured {
	obj, _ := info.Object.(*unstructured.Unstructured)
	return obj
}

// title names an object in messages and events: Deployment/web, or ConfigMap/other-ns/web outside of namespace.
func title(info *resource.Info, namespace string) string {
	name := info.Name
	if info.Namespace != "" && info.Namespace != namespace {
		name = info.Namespace + "/" + name
	}
	return info.Mapping.GroupVersionKind.Kind + "/" + name
}
