package helm

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// appKind is the kind of the resources that the tests' releases are for.
var appKind = schema.GroupVersionKind{Group: "helmengine.example.com", Version: "v1", Kind: "App"}

// world is a namespace of the test cluster.
type world struct {
	t         *testing.T
	config    *rest.Config
	mapper    meta.RESTMapper
	client    kube.Client
	namespace string
}

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // else controller-runtime's clients complain that nobody has
	os.Exit(m.Run())
}

// newWorld returns a new namespace. Tests that have one of their own run side by side.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	config := testkit.Cluster(t)
	testkit.InstallCRD(t, config, appKind)
	c := testkit.Client(t, config)
	return &world{t: t, config: config, mapper: testkit.Mapper(t, config), client: c, namespace: testkit.Namespace(t, c)}
}

// in returns the world for a subtest, which runs beside the others.
func (w *world) in(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	out := *w
	out.t = t
	return &out
}

// otherNamespace returns one more namespace.
func (w *world) otherNamespace() string {
	w.t.Helper()
	return testkit.Namespace(w.t, w.client)
}

// chartDir returns the path of one of the charts in testdata.
func chartDir(name string) string { return filepath.Join("testdata", "charts", name) }

// engine returns an engine for a chart of testdata, or for one at an absolute path.
func (w *world) engine(chart string, change ...func(*Config)) *Engine {
	w.t.Helper()
	if !filepath.IsAbs(chart) {
		chart = chartDir(chart)
	}
	cfg := Config{ChartPath: chart, RESTConfig: w.config, Mapper: w.mapper}
	for _, f := range change {
		f(&cfg)
	}
	e, err := New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// resource makes the resource of this name, or finds it.
func (w *world) resource(name string) *unstructured.Unstructured {
	w.t.Helper()
	obj := testkit.Object(appKind, w.namespace, name, map[string]any{})
	err := w.client.Create(w.t.Context(), obj)
	if apierrors.IsAlreadyExists(err) {
		err = w.client.Get(w.t.Context(), kube.ObjectKeyFromObject(obj), obj)
	}
	if err != nil {
		w.t.Fatalf("make resource %s: %v", name, err)
	}
	return obj
}

// job returns a job for the resource of this name, which is made if it is not there.
func (w *world) job(name string, values map[string]any) engine.Job {
	w.t.Helper()
	obj := w.resource(name)
	return engine.Job{
		ID: "test", Mode: engine.Reconcile, Trigger: engine.TriggerSpec, Attempt: 1, Inputs: values,
		Owner: engine.Owner{
			APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind(), Namespace: obj.GetNamespace(), Name: name,
			UID: obj.GetUID(), Generation: obj.GetGeneration(),
		},
	}
}

// finalize returns the job that cleans up after job.
func finalize(job engine.Job) engine.Job {
	job.Mode, job.Trigger, job.Inputs = engine.Finalize, engine.TriggerDeletion, nil
	return job
}

// verified returns job with a look at the children.
func verified(job engine.Job) engine.Job {
	job.VerifyChildren = true
	return job
}

// run runs a job and fails the test unless it has the outcome.
func (w *world) run(e *Engine, job engine.Job, outcome engine.Outcome) engine.Result {
	w.t.Helper()
	result, err := e.Run(w.t.Context(), job)
	if err != nil {
		w.t.Fatalf("run: %v", err)
	}
	if result.Outcome != outcome {
		w.t.Fatalf("outcome is %s (%s: %s; %+v), want %s", result.Outcome, result.Reason, result.Message, result.Failures, outcome)
	}
	return result
}

// did runs a job that has to succeed and returns it after checking what it did.
func (w *world) did(e *Engine, job engine.Job, want engine.Action) engine.Result {
	w.t.Helper()
	outcome := engine.Changed
	if want == engine.ActionNone {
		outcome = engine.Succeeded
	}
	result := w.run(e, job, outcome)
	if result.Release == nil || result.Release.Action != want {
		w.t.Fatalf("did %+v, want %s", result.Release, want)
	}
	return result
}

// get returns a live object.
func (w *world) get(gvk schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	w.t.Helper()
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvk)
	if err := w.client.Get(w.t.Context(), kube.ObjectKey{Namespace: namespace, Name: name}, obj); err != nil {
		w.t.Fatalf("get %s %s: %v", gvk.Kind, name, err)
	}
	return obj
}

// exists reports whether an object is there and not being deleted.
func (w *world) exists(gvk schema.GroupVersionKind, namespace, name string) bool {
	w.t.Helper()
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvk)
	err := w.client.Get(w.t.Context(), kube.ObjectKey{Namespace: namespace, Name: name}, obj)
	if err != nil && !apierrors.IsNotFound(err) {
		w.t.Fatalf("get %s %s: %v", gvk.Kind, name, err)
	}
	return err == nil && obj.GetDeletionTimestamp() == nil
}

func (w *world) patch(obj *unstructured.Unstructured, change func(*unstructured.Unstructured)) {
	w.t.Helper()
	before := obj.DeepCopy()
	change(obj)
	if err := w.client.Patch(w.t.Context(), obj, kube.MergeFrom(before)); err != nil {
		w.t.Fatalf("patch %s: %v", obj.GetName(), err)
	}
}

func (w *world) delete(gvk schema.GroupVersionKind, namespace, name string) {
	w.t.Helper()
	if err := w.client.Delete(w.t.Context(), w.get(gvk, namespace, name)); err != nil {
		w.t.Fatalf("delete %s %s: %v", gvk.Kind, name, err)
	}
}

var (
	configMaps   = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	services     = corev1.SchemeGroupVersion.WithKind("Service")
	secrets      = corev1.SchemeGroupVersion.WithKind("Secret")
	jobs         = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	deployments  = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	clusterRoles = schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}
)

// stock returns what the stock helm command works with, without anything of ours.
func (w *world) stock() *action.Configuration {
	w.t.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	flags.Namespace = &w.namespace
	flags.WrapConfigFn = func(*rest.Config) *rest.Config { return rest.CopyConfig(w.config) }
	cfg := &action.Configuration{}
	if err := cfg.Init(flags, w.namespace, "secret", w.t.Logf); err != nil {
		w.t.Fatal(err)
	}
	return cfg
}

// stockInstall installs a chart of testdata with stock Helm.
func (w *world) stockInstall(chart, name string, values map[string]any) *release.Release {
	w.t.Helper()
	act := action.NewInstall(w.stock())
	act.ReleaseName, act.Namespace = name, w.namespace
	c, err := loader.Load(chartDir(chart))
	if err != nil {
		w.t.Fatal(err)
	}
	rel, err := act.Run(c, values)
	if err != nil {
		w.t.Fatalf("stock helm install: %v", err)
	}
	return rel
}

// revisions returns a release's revisions as stock Helm sees them: 1 deployed, oldest first.
func (w *world) revisions(name string) []string {
	w.t.Helper()
	releases, err := action.NewHistory(w.stock()).Run(name)
	if err != nil {
		return nil
	}
	slices.SortFunc(releases, func(a, b *release.Release) int { return a.Version - b.Version })
	var out []string
	for _, rel := range releases {
		out = append(out, string(rel.Info.Status))
	}
	return out
}

// record returns the Secret of a revision.
func (w *world) record(name string, version int) *corev1.Secret {
	w.t.Helper()
	secret := &corev1.Secret{}
	key := kube.ObjectKey{Namespace: w.namespace, Name: secretName(name, version)}
	if err := w.client.Get(w.t.Context(), key, secret); err != nil {
		w.t.Fatal(err)
	}
	return secret
}

// setStatus rewrites a revision as a process that was killed would have left it.
func (w *world) setStatus(name string, version int, status release.Status) {
	w.t.Helper()
	cfg := w.stock()
	rel, err := cfg.Releases.Get(name, version)
	if err != nil {
		w.t.Fatal(err)
	}
	old := w.record(name, version)
	rel.Info.Status = status
	if err := cfg.Releases.Update(rel); err != nil {
		w.t.Fatal(err)
	}
	secret := w.record(name, version) // stock Helm forgets owners; a killed operator has them
	secret.OwnerReferences = old.OwnerReferences
	if err := w.client.Update(w.t.Context(), secret); err != nil {
		w.t.Fatal(err)
	}
}

// listen returns the events of a job.
func listen(job *engine.Job) func() []engine.Event {
	var mu sync.Mutex
	var events []engine.Event
	job.Progress = func(e engine.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}
	return func() []engine.Event {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(events)
	}
}

// ownedBy reports whether the resource is the object's controller.
func ownedBy(obj metav1.Object, owner engine.Owner) bool {
	ref := metav1.GetControllerOf(obj)
	return ref != nil && ref.UID == owner.UID
}

// copyChart copies a chart of testdata, for changing it.
func copyChart(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(chartDir(name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
