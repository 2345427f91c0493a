package dependents

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// How long to wait between tries to watch a kind: from one second to one minute, from the start again when all went
// well for two.
const (
	firstDelay = time.Second
	lastDelay  = time.Minute
	delayReset = 2 * time.Minute
)

func newDelay(c clock.Clock) wait.DelayFunc {
	backoff := wait.Backoff{Duration: firstDelay, Cap: lastDelay, Factor: 2, Jitter: 0.5, Steps: 10}
	return backoff.DelayWithReset(c, delayReset)
}

// watch fills a stream until ctx is done (false) or the resource is not served any more (true).
func (k *kind) watch(ctx context.Context, s *stream, namespace string, resource schema.GroupVersionResource) bool {
	log := k.registry.log.V(1).WithValues("child", resource.String(), "namespace", namespace)
	ctx = klog.NewContext(ctx, log)
	delay := newDelay(k.registry.clock)
	s.synced = func() {
		k.registry.log.V(1).Info("Children are known", "child", s.gvk.String(), "namespace", namespace)
	}
	reflector := cache.NewReflectorWithOptions(k.listWatch(s, namespace, resource), nil, s, cache.ReflectorOptions{
		Name:            "dependents",
		TypeDescription: resource.String(),
		Logger:          &log,
		Clock:           k.registry.clock,
	})
	for {
		err := reflector.ListAndWatchWithContext(ctx)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			k.fails(namespace, k.troubleOf(err, resource))
		}
		if apierrors.IsNotFound(err) {
			return true
		}
		k.pause(ctx, delay)
	}
}

// listWatch returns how to list and watch. A watch that is granted ends the trouble there was.
//
// The reflector asks for a stream of all objects and lists them only where the API server does not offer that.
func (k *kind) listWatch(s *stream, namespace string, resource schema.GroupVersionResource) cache.ListerWatcher {
	client := k.registry.client.Resource(resource).Namespace(namespace)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return s.list(ctx, namespace, resource, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			w, err := client.Watch(ctx, options)
			if err == nil {
				k.works(namespace)
			}
			return w, err
		},
	}
}
