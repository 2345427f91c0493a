package runner_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/dependents"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// backstage is what surrounds runs, without an engine: the proxy that they talk to and the registry of their children.
type backstage struct {
	*dependents.Registry
	proxy     *proxy.Proxy
	gvk       schema.GroupVersionKind
	namespace string
	wakes     chan string // "owner: child why"
}

func newBackstage(t *testing.T, gvk schema.GroupVersionKind) *backstage {
	t.Helper()
	config := testkit.Cluster(t)
	mapper := testkit.Mapper(t, config)
	b := &backstage{gvk: gvk, namespace: testkit.Namespace(t, testkit.Client(t, config)), wakes: make(chan string, 10000)}
	var err error
	b.Registry, err = dependents.New(dependents.Config{RESTConfig: config, Mapper: mapper, Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	b.AddPrimary(dependents.Primary{GVK: gvk, Wake: func(owner types.NamespacedName, child engine.Child, why dependents.Why) {
		b.wakes <- fmt.Sprintf("%s: %s %s", owner.Name, child.Name, why)
	}})
	b.proxy, err = proxy.New(proxy.Config{
		RESTConfig: config, Kinds: metadata.NewForConfigOrDie(config), Children: b.Registry,
		InjectOwner: true, Log: logr.Discard(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var group errgroup.Group
	group.Go(func() error { return b.Start(ctx) })
	group.Go(func() error { return b.proxy.Start(ctx) })
	t.Cleanup(func() {
		cancel()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// owner makes a resource.
func (b *backstage) owner(t *testing.T, name string) engine.Owner {
	t.Helper()
	obj := testkit.Object(b.gvk, b.namespace, name, nil)
	if err := testkit.Client(t, testkit.Cluster(t)).Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	apiVersion, kind := b.gvk.ToAPIVersionAndKind()
	return engine.Owner{APIVersion: apiVersion, Kind: kind, Namespace: b.namespace, Name: name, UID: obj.GetUID()}
}

// run does what a run does, with a client that speaks JSON or protobuf.
func (b *backstage) run(owner engine.Owner, format string, play func(kubernetes.Interface) error) (proxy.Report, error) {
	session, err := b.proxy.Open(owner)
	if err != nil {
		return proxy.Report{}, err
	}
	defer session.Close()
	kubeconfig, err := session.Kubeconfig()
	if err != nil {
		return proxy.Report{}, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return proxy.Report{}, err
	}
	config.QPS, config.ContentType = -1, format
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return proxy.Report{}, err
	}
	b.BeginRun(owner)
	err = play(clients)
	report := session.Close()
	b.EndRun(owner, report.Writes)
	return report, err
}

// TestManyRunsAtOnceHaveTheirOwnChildren covers D1 of the users' complaints (aop#136: about half of the children had a
// wrong owner when several resources were reconciled together): 50 runs at once, twenty times in a row.
func TestManyRunsAtOnceHaveTheirOwnChildren(t *testing.T) {
	t.Parallel()
	const runs, rounds = 50, 20
	b := newBackstage(t, kindFor(t))
	var owners []engine.Owner
	for i := range runs {
		owners = append(owners, b.owner(t, fmt.Sprint("owner-", i)))
	}
	formats := []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf}
	for round := range rounds {
		var group errgroup.Group
		for i, owner := range owners {
			group.Go(func() error {
				report, err := b.run(owner, formats[(i+round)%2], func(clients kubernetes.Interface) error {
					child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
						Name: fmt.Sprintf("%s-%d", owner.Name, round),
					}, Data: map[string]string{"k": "v"}}
					_, err := clients.CoreV1().ConfigMaps(b.namespace).Create(t.Context(), child, metav1.CreateOptions{})
					return err
				})
				if err == nil && len(report.Writes) != 1 {
					err = fmt.Errorf("%d writes were noted, want 1", len(report.Writes))
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
	}

	admin := kubernetes.NewForConfigOrDie(testkit.Cluster(t)).CoreV1().ConfigMaps(b.namespace)
	children, err := admin.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	uids := map[string]types.UID{}
	for _, owner := range owners {
		for round := range rounds {
			uids[fmt.Sprintf("%s-%d", owner.Name, round)] = owner.UID
		}
	}
	for _, child := range children.Items {
		want, ours := uids[child.Name]
		if refs := child.OwnerReferences; ours && (len(refs) != 1 || refs[0].UID != want) {
			t.Errorf("%s belongs to %v, want %s", child.Name, refs, want)
		}
		delete(uids, child.Name)
	}
	if len(uids) > 0 {
		t.Errorf("%d children are missing", len(uids))
	}

	for i, owner := range owners { // one child of each is edited, and its owner is the one who is woken
		child := fmt.Sprintf("%s-%d", owner.Name, i%rounds)
		b.edit(t, child)
		b.expect(t, fmt.Sprintf("%s: %s edited", owner.Name, child))
	}
	b.expectNothingElse(t)
}

// edit changes a ConfigMap as somebody else, whenever its watch has got to know it.
func (b *backstage) edit(t *testing.T, name string) {
	t.Helper()
	maps := kubernetes.NewForConfigOrDie(testkit.Cluster(t)).CoreV1().ConfigMaps(b.namespace)
	edit := []byte(`{"data":{"k":"by hand"}}`)
	if _, err := maps.Patch(t.Context(), name, types.MergePatchType, edit, metav1.PatchOptions{FieldManager: "somebody"}); err != nil {
		t.Fatal(err)
	}
}

// expect checks which wake comes next.
func (b *backstage) expect(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-b.wakes:
		if got != want {
			t.Fatalf("woken: %q, want %q", got, want)
		}
	case <-time.After(soon):
		t.Fatalf("nobody was woken, want %q", want)
	}
}

func (b *backstage) expectNothingElse(t *testing.T) {
	t.Helper()
	select {
	case got := <-b.wakes:
		t.Errorf("woken besides: %q", got)
	default:
	}
}

// TestManyResourcesAtOnce is the same with real playbooks, and fewer.
func TestManyResourcesAtOnce(t *testing.T) {
	t.Parallel()
	const count = 20
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{"watches.yaml": watchesFor(gvk, ""), "play.yml": keepConfigMap})
	for i := range count {
		o.create(gvk, fmt.Sprint("thing-", i), map[string]any{"message": fmt.Sprint("of ", i)})
	}
	o.start(func(options *runner.Options) { options.MaxConcurrentReconciles = 6 })
	for i := range count {
		name := fmt.Sprint("thing-", i)
		thing := o.eventually(gvk, name, ready)
		o.eventually(configMaps, name, func(child *unstructured.Unstructured) error {
			refs := child.GetOwnerReferences()
			if len(refs) != 1 || refs[0].UID != thing.GetUID() {
				return fmt.Errorf("%s belongs to %v, want %s", name, refs, thing.GetUID())
			}
			return message(fmt.Sprint("of ", i))(child)
		})
	}
	if n := o.log.count(`"outcome":`); n != count {
		t.Errorf("%d runs for %d resources; the runs of one must not wake another", n, count)
	}
}
