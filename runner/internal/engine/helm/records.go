package helm

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/go-logr/logr"
	"helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Records follows the records of releases, so that engines learn what others do to a release: a rollback by hand, a
// record that is deleted. It gets and keeps metadata only. It is shared by engines, safe for concurrent use, and works
// while Start does.
type Records struct {
	client     metadata.Interface
	namespaces []string
	log        logr.Logger

	mu    sync.Mutex
	live  map[string]bool // by namespace: events come in
	known map[types.NamespacedName]*knownRelease
}

// knownRelease is a release as an engine left it.
type knownRelease struct {
	version int
	running int // runs that are at work on it
	newest  int // revision that was seen since the first of these began
	wake    func(why string)
}

// NewRecords returns what follows the releases of the given namespaces; of all if there are none.
func NewRecords(config *rest.Config, namespaces []string, log logr.Logger) (*Records, error) {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client that watches the records of releases: %w", err)
	}
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	return &Records{
		client: client, namespaces: namespaces, log: log,
		live: map[string]bool{}, known: map[types.NamespacedName]*knownRelease{},
	}, nil
}

// NeedLeaderElection says that only the leader has anybody to wake.
func (r *Records) NeedLeaderElection() bool { return true }

// Start follows the records until ctx is done. Its error is always nil.
func (r *Records) Start(ctx context.Context) error {
	var group sync.WaitGroup
	for _, namespace := range r.namespaces {
		group.Go(func() { r.follow(ctx, namespace) })
	}
	group.Wait()
	return nil
}

func (r *Records) follow(ctx context.Context, namespace string) {
	informer := cache.NewSharedIndexInformer(r.listWatch(namespace), &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	_, errHandler := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { r.changed(obj, false) },
		UpdateFunc: func(_, obj any) { r.changed(obj, false) },
		DeleteFunc: func(obj any) { r.changed(obj, true) },
	})
	err := errors.Join(errHandler, informer.SetTransform(slimRecord),
		informer.SetWatchErrorHandler(func(*cache.Reflector, error) {})) // see follows
	if err != nil {
		r.log.Error(err, "Cannot watch the records of releases; each run looks at them instead", "namespace", namespace)
		return
	}
	informer.RunWithContext(ctx)
}

// listWatch lists and watches records. Whether that is possible at the moment is noted.
func (r *Records) listWatch(namespace string) cache.ListerWatcher {
	client := r.client.Resource(corev1.SchemeGroupVersion.WithResource("secrets")).Namespace(namespace)
	choose := func(options metav1.ListOptions) metav1.ListOptions {
		options.LabelSelector, options.FieldSelector = "owner=helm", "type="+recordType
		return options
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := client.List(ctx, choose(options))
			r.follows(namespace, err, false)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			events, err := client.Watch(ctx, choose(options))
			r.follows(namespace, err, true)
			return events, err
		},
	}
}

// recordType is the type of the Secrets in which Helm keeps revisions.
const recordType = "helm.sh/release.v1"

// follows notes whether events come in. What keeps them away is logged once.
func (r *Records) follows(namespace string, err error, watching bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was, told := r.live[namespace]
	switch {
	case err != nil:
		r.live[namespace] = false
		if was || !told {
			r.log.Info("Cannot watch the records of releases; each run looks at them instead", "namespace", namespace, "cause", err.Error())
		}
	case watching:
		r.live[namespace] = true
	}
}

// slimRecord keeps of a record what is looked at.
func slimRecord(obj any) (any, error) {
	secret, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok {
		return obj, nil
	}
	return &metav1.PartialObjectMetadata{
		TypeMeta: secret.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{
			Namespace: secret.Namespace, Name: secret.Name, UID: secret.UID, ResourceVersion: secret.ResourceVersion,
			Labels: map[string]string{"name": secret.Labels["name"], "version": secret.Labels["version"], "status": secret.Labels["status"]},
		},
	}, nil
}

// changed wakes whoever knows the release otherwise.
func (r *Records) changed(obj any, deleted bool) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	secret, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok {
		return
	}
	version, err := strconv.Atoi(secret.Labels["version"])
	if err != nil {
		return
	}
	key := types.NamespacedName{Namespace: secret.Namespace, Name: secret.Labels["name"]}
	if wake := r.news(key, version, release.Status(secret.Labels["status"]), deleted); wake != nil {
		wake(fmt.Sprintf("the record of revision %d of the release was changed from outside", version))
	}
}

// news returns whom to wake when a revision is as described; nil for nobody. What a run does itself is no news.
func (r *Records) news(key types.NamespacedName, version int, status release.Status, deleted bool) func(string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known[key]
	switch {
	case known == nil:
	case known.running > 0:
		if !deleted {
			known.newest = max(known.newest, version)
		}
	case known.version == 0:
	case !deleted && version > known.version, version == known.version && (deleted || status != release.StatusDeployed):
		return known.wake
	}
	return nil
}
