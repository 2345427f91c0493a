package related

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// How long to wait between tries to watch: from one second to five minutes, from the start again when all went well for
// as long as that twice.
const (
	firstDelay = time.Second
	lastDelay  = 5 * time.Minute
	delayReset = 2 * lastDelay
)

// run keeps a stream up until ctx is done.
func (s *stream) run(ctx context.Context) {
	defer s.cancel()
	backoff := wait.Backoff{Duration: firstDelay, Cap: lastDelay, Factor: 2, Jitter: 0.5, Steps: 12}
	delay := backoff.DelayWithReset(s.registry.clock, delayReset)
	for ctx.Err() == nil {
		if err := s.follow(ctx); err != nil && ctx.Err() == nil {
			s.fails(err)
		}
		select {
		case <-ctx.Done():
		case <-s.registry.clock.After(delay()):
		}
	}
}

// follow lists and watches once.
func (s *stream) follow(ctx context.Context) error {
	client, mapping, err := s.registry.reader.resource(s.key.gvk, s.key.namespace)
	if err != nil {
		return err
	}
	s.registry.mu.Lock()
	s.clusterScoped = mapping.Scope.Name() == meta.RESTScopeNameRoot
	s.registry.mu.Unlock()
	log := s.registry.log.V(1).WithValues("kind", s.key.gvk.Kind, "namespace", s.key.namespace)
	ctx = klog.NewContext(ctx, log)
	reflector := cache.NewReflectorWithOptions(s.listWatch(client), nil, s, cache.ReflectorOptions{
		Name: "related", TypeDescription: mapping.Resource.String(), Logger: &log, Clock: s.registry.clock,
	})
	return reflector.ListAndWatchWithContext(ctx)
}

// listWatch returns how to list and watch what the stream follows.
func (s *stream) listWatch(client dynamic.ResourceInterface) cache.ListerWatcher {
	narrow := func(options metav1.ListOptions) metav1.ListOptions {
		options.LabelSelector = s.key.selector
		if s.key.name != "" {
			options.FieldSelector = fields.OneTermEqualSelector("metadata.name", s.key.name).String()
		}
		return options
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, narrow(options))
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			w, err := client.Watch(ctx, narrow(options))
			if err == nil {
				s.works()
			}
			return w, err
		},
	}
}

// works notes that a watch was granted.
func (s *stream) works() {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	s.broken = false
	if s.registry.told[s.key.place] != "" {
		delete(s.registry.told, s.key.place)
		s.registry.log.Info("Watching related objects again", "kind", s.key.gvk.String(), "namespace", s.key.namespace)
	}
}

// fails tells once for a kind and namespace why it cannot be watched.
func (s *stream) fails(err error) {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	s.broken = true
	reason := "Failed"
	switch {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		reason = "NotServed"
	case apierrors.IsForbidden(err):
		reason = "Forbidden"
	}
	if s.registry.said(s.key.place, reason) {
		s.registry.log.Info("Cannot watch related objects; their changes are noticed at the next periodic run only; grant get, list and watch",
			"kind", s.key.gvk.String(), "namespace", s.key.namespace, "reason", reason, "message", err.Error())
	}
}
