package runner_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// soon is how long what the operator does by itself may take, with other tests on the same two cores.
const soon = 3 * time.Minute

// operator is an operator that runs in the test's process, against the real API server.
type operator struct {
	t         *testing.T
	client    client.Client
	config    *rest.Config
	namespace string
	dir       string // of watches.yaml and its content
	probes    string // address of the probes
	metrics   *prometheus.Registry
	log       *lines

	cancel context.CancelFunc
	done   chan error
}

// setup prepares a namespace and a directory with files for an operator that has yet to be started. In the files'
// text NAMESPACE stands for the namespace and DIR for the directory.
func setup(t *testing.T, config *rest.Config, files map[string]string) *operator {
	t.Helper()
	c := testkit.Client(t, config)
	o := &operator{t: t, client: c, config: config, namespace: testkit.Namespace(t, c), dir: t.TempDir(), log: &lines{}}
	for name, text := range files {
		o.write(name, text)
	}
	return o
}

func (o *operator) write(name, text string) {
	o.t.Helper()
	text = strings.NewReplacer("NAMESPACE", o.namespace, "DIR", o.dir).Replace(text)
	path := filepath.Join(o.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		o.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		o.t.Fatal(err)
	}
}

// start runs the operator until the test ends or stop is called.
func (o *operator) start(adjust ...func(*runner.Options)) {
	o.t.Helper()
	options := runner.DefaultOptions(runner.Chartbook)
	options.WatchesFile = filepath.Join(o.dir, "watches.yaml")
	options.RESTConfig = rest.CopyConfig(o.config)
	options.Namespaces = []string{o.namespace}
	options.Log = o.log.logger()
	options.Metrics.Address = "0"
	options.HealthProbeAddress = freeAddress(o.t)
	options.Ansible.PrivateDir = filepath.Join(o.t.TempDir(), "private")
	o.metrics = prometheus.NewRegistry()
	options.Registerer = o.metrics
	for _, f := range adjust {
		f(&options)
	}
	o.probes = options.HealthProbeAddress
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	o.cancel, o.done = cancel, done
	go func() { done <- runner.Run(ctx, options) }()
	o.t.Cleanup(func() { o.stop() })
}

// stop ends the operator as a signal would and waits for it.
func (o *operator) stop() {
	o.t.Helper()
	if o.cancel == nil {
		return
	}
	o.cancel()
	o.cancel = nil
	select {
	case err := <-o.done:
		if err != nil {
			o.t.Errorf("the operator ended with an error: %v", err)
		}
	case <-time.After(soon):
		o.t.Error("the operator does not end")
	}
	if o.t.Failed() {
		o.t.Logf("log of the operator:\n%s", o.log.text())
	}
}

// create makes a resource in the operator's namespace.
func (o *operator) create(gvk schema.GroupVersionKind, name string, spec map[string]any, edit ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	o.t.Helper()
	obj := testkit.Object(gvk, o.namespace, name, spec)
	for _, f := range edit {
		f(obj)
	}
	if err := o.client.Create(o.t.Context(), obj); err != nil {
		o.t.Fatalf("create %s %s: %v", gvk.Kind, name, err)
	}
	return obj
}

// get reads a resource from the API server.
func (o *operator) get(ctx context.Context, gvk schema.GroupVersionKind, name string) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvk)
	return obj, o.client.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: name}, obj)
}

// edit patches a resource.
func (o *operator) edit(obj *unstructured.Unstructured, change func(*unstructured.Unstructured)) {
	o.t.Helper()
	fresh, err := o.get(o.t.Context(), obj.GroupVersionKind(), obj.GetName())
	if err != nil {
		o.t.Fatal(err)
	}
	edited := fresh.DeepCopy()
	change(edited)
	if err := o.client.Patch(o.t.Context(), edited, client.MergeFrom(fresh)); err != nil {
		o.t.Fatalf("edit %s %s: %v", obj.GetKind(), obj.GetName(), err)
	}
}

// delete asks for the deletion of a resource.
func (o *operator) delete(obj *unstructured.Unstructured) {
	o.t.Helper()
	if err := o.client.Delete(o.t.Context(), obj); err != nil {
		o.t.Fatalf("delete %s %s: %v", obj.GetKind(), obj.GetName(), err)
	}
}

// eventually waits until check on the newest state of a resource returns nil.
func (o *operator) eventually(gvk schema.GroupVersionKind, name string, check func(*unstructured.Unstructured) error) *unstructured.Unstructured {
	o.t.Helper()
	var last *unstructured.Unstructured
	testkit.Eventually(o.t, soon, func(ctx context.Context) error {
		obj, err := o.get(ctx, gvk, name)
		if err != nil {
			return err
		}
		last = obj
		return check(obj)
	})
	return last
}

// gone waits until a resource is not there any more.
func (o *operator) gone(gvk schema.GroupVersionKind, name string) {
	o.t.Helper()
	testkit.Eventually(o.t, soon, func(ctx context.Context) error {
		obj, err := o.get(ctx, gvk, name)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if err == nil {
			return fmt.Errorf("%s %s is still there: %v", gvk.Kind, name, obj.Object["metadata"])
		}
		return nil
	})
}

// clientKey names an object to a client.
func clientKey(obj *unstructured.Unstructured) client.ObjectKey {
	return client.ObjectKeyFromObject(obj)
}

// ready says that the last run was good and for the newest spec.
func ready(obj *unstructured.Unstructured) error {
	return condition(obj, "Ready", "True", "Succeeded")
}

// condition compares status, reason and generation of a condition.
func condition(obj *unstructured.Unstructured, conditionType, status, reason string) error {
	c, err := testkit.Condition(obj, conditionType)
	if err != nil {
		return err
	}
	if c["status"] != status || c["reason"] != reason || c["observedGeneration"] != obj.GetGeneration() {
		return fmt.Errorf("condition %s is %v, want %s/%s for generation %d", conditionType, c, status, reason, obj.GetGeneration())
	}
	return nil
}

// ownGroup returns a group that no other test uses, so that CRDs of tests do not meet.
func ownGroup(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	if len(name) > 50 {
		name = name[len(name)-50:]
	}
	return strings.Trim(name, "-") + ".example.com"
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// lines keeps a log.
type lines struct {
	mu   sync.Mutex
	kept []string
}

func (l *lines) logger() logr.Logger {
	return funcr.NewJSON(func(line string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.kept = append(l.kept, line)
	}, funcr.Options{LogTimestamp: true})
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.kept, "\n")
}

// count returns how many lines hold all of the texts.
func (l *lines) count(texts ...string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.kept {
		all := true
		for _, text := range texts {
			all = all && strings.Contains(line, text)
		}
		if all {
			n++
		}
	}
	return n
}

// Settings of a test's process that is an operator itself, see spawn.
const (
	spawnedWatches   = "CHARTBOOK_TEST_SPAWNED_WATCHES"
	spawnedNamespace = "CHARTBOOK_TEST_SPAWNED_NAMESPACE"
)

// beOperator is the operator that spawn starts.
func beOperator(file string) int {
	config, err := ctrl.GetConfig()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	options := runner.DefaultOptions(runner.Chartbook)
	options.WatchesFile, options.RESTConfig = file, config
	options.Namespaces = []string{os.Getenv(spawnedNamespace)}
	options.Metrics.Address, options.HealthProbeAddress = "0", "0"
	options.Ansible.PrivateDir = filepath.Join(filepath.Dir(file), "private")
	options.Log = funcr.NewJSON(func(line string) { fmt.Fprintln(os.Stderr, line) }, funcr.Options{})
	if err := runner.Run(ctrl.SetupSignalHandler(), options); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // what controller-runtime says outside of any operator
	if file := os.Getenv(spawnedWatches); file != "" {
		os.Exit(beOperator(file))
	}
	os.Exit(m.Run())
}
