package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

var (
	secrets      = corev1.SchemeGroupVersion.WithKind("Secret")
	services     = corev1.SchemeGroupVersion.WithKind("Service")
	deployments  = appsv1.SchemeGroupVersion.WithKind("Deployment")
	statefulSets = appsv1.SchemeGroupVersion.WithKind("StatefulSet")
	autoscalers  = schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}
)

// outside stands in for the store and the service outside the cluster that the example's playbooks talk to.
type outside struct {
	mu      sync.Mutex
	stored  map[string]string // path -> body
	allowed bool              // what the service says to training jobs
	asked   int
}

func (s *outside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.URL.Path == "/quota":
		s.asked++
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"allowed": %v, "message": "no GPU is free"}`, s.allowed)
	case r.Method == http.MethodPut:
		_, there := s.stored[r.URL.Path]
		s.stored[r.URL.Path] = string(body)
		if !there {
			w.WriteHeader(http.StatusCreated)
		}
	case r.Method == http.MethodDelete:
		delete(s.stored, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// holds returns nil when something is stored under path, and its body holds text.
func (s *outside) holds(path, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, there := s.stored[path]
	if !there || !strings.Contains(body, text) {
		return fmt.Errorf("the store has %q under %s: %v; want %q in it", body, path, there, text)
	}
	return nil
}

func (s *outside) allow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allowed = true
}

// TestShippedScenarios runs the shipped watches.yaml and proves of each entry what the manual says that it shows.
// Covers UP E10.
func TestShippedScenarios(t *testing.T) {
	config := testkit.Cluster(t)
	testkit.InstallCRDs(t, config, filepath.Join(testkit.RepoRoot(), "deploy", "crds"))
	store := &outside{stored: map[string]string{}}
	server := httptest.NewServer(store)
	t.Cleanup(server.Close)
	t.Setenv("EXTERNAL_STORE_URL", server.URL)
	t.Setenv("TRAINING_API_URL", server.URL)
	t.Chdir(testkit.RepoRoot())
	o := setup(t, config, map[string]string{"watches.yaml": shippedWatches(t)})
	o.start()

	scenarios := map[string]func(*testing.T, *operator, *outside){
		"Sample": sampleScenario, "Database": databaseScenario, "Microservice": microserviceScenario,
		"Deployment": deploymentScenario, "Secret": secretScenario, "PostgresCluster": postgresScenario,
		"MySQLCluster": mysqlScenario, "TrainingJob": trainingScenario,
	}
	for name, scenario := range scenarios {
		t.Run(name, func(t *testing.T) {
			mine := *o
			mine.t, mine.cancel = t, nil
			scenario(t, &mine, store)
		})
	}
	for _, secret := range []string{"not-a-real-token", "bm90LWEtcmVhbC10b2tlbg"} {
		if strings.Contains(o.log.text(), secret) {
			t.Errorf("a Secret's content is in the log: %s", secret)
		}
	}
}

// shippedWatches is the shipped file with the nightly backup every twenty seconds.
func shippedWatches(t *testing.T) string {
	t.Helper()
	shipped, err := os.ReadFile("watches.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const nightly = "'0 3 * * *'"
	if strings.Count(string(shipped), nightly) != 1 {
		t.Fatalf("watches.yaml does not have %s once", nightly)
	}
	return strings.Replace(string(shipped), nightly, "'@every 20s'", 1)
}

// sample reads a resource of deploy/samples and creates it in the operator's namespace.
func (o *operator) sample(file string) *unstructured.Unstructured {
	o.t.Helper()
	obj := testkit.ReadYAML(o.t, filepath.Join("deploy", "samples", file))
	obj.SetNamespace(o.namespace)
	if err := o.client.Create(o.t.Context(), obj); err != nil {
		o.t.Fatalf("create the sample of %s: %v", file, err)
	}
	return obj
}

// Sync, update, repair of a hand-edited or deleted child, garbage collection.
func sampleScenario(_ *testing.T, o *operator, _ *outside) {
	sample := o.sample("demo_v1alpha1_sample.yaml")
	gvk := sample.GroupVersionKind()
	o.eventually(gvk, "sample", ready)
	child := o.eventually(configMaps, "sample-config", message("Hello from a playbook"))
	o.edit(sample, set("changed", "spec", "message"))
	o.eventually(configMaps, "sample-config", message("changed"))
	o.edit(child, set("by hand", "data", "message"))
	o.eventually(configMaps, "sample-config", message("changed"))
	o.delete(child)
	o.eventually(configMaps, "sample-config", message("changed"))
	o.delete(sample)
	o.gone(configMaps, "sample-config")
}

// Outputs in status, no status loop.
func databaseScenario(t *testing.T, o *operator, _ *outside) {
	t.Helper()
	database := o.sample("example_v1_database.yaml")
	gvk := database.GroupVersionKind()
	got := o.eventually(gvk, "database", ready)
	outputs, _, _ := unstructured.NestedMap(got.Object, "status", "outputs")
	if outputs["provisioned"] != true || fmt.Sprint(outputs["size"]) != "5" {
		t.Errorf("status.outputs is %v", outputs)
	}
	child, err := o.get(t.Context(), configMaps, "database-database")
	if err != nil {
		t.Fatal(err)
	}
	o.edit(child, set("99", "data", "size"))
	o.eventually(configMaps, "database-database", field("5", "data", "size"))
	if n := o.log.count(`"name":"database"`, `"outcome":`); n > 2 {
		t.Errorf("%d runs for a resource that was made once and repaired once: status wakes its own resource", n)
	}
}

// Composition by chart, drift repair.
func microserviceScenario(t *testing.T, o *operator, _ *outside) {
	t.Helper()
	service := o.sample("platform_v1_microservice.yaml")
	gvk := service.GroupVersionKind()
	got := o.eventually(gvk, "microservice", ready)
	for _, kind := range []schema.GroupVersionKind{services, autoscalers} {
		if _, err := o.get(t.Context(), kind, "microservice"); err != nil {
			t.Error(err)
		}
	}
	if err := testkit.HasCondition(got, "Deployed", "True"); err != nil {
		t.Error(err)
	}
	if slices := got.GetFinalizers(); len(slices) != 1 || slices[0] != "helm.sdk.operatorframework.io/uninstall-release" {
		t.Errorf("finalizers are %v", slices)
	}
	deployment := o.eventually(deployments, "microservice", func(*unstructured.Unstructured) error { return nil })
	o.edit(deployment, func(obj *unstructured.Unstructured) {
		containers, _, _ := unstructured.NestedSlice(obj.Object, "spec", "template", "spec", "containers")
		containers[0].(map[string]any)["image"] = "by/hand:1"
		_ = unstructured.SetNestedSlice(obj.Object, containers, "spec", "template", "spec", "containers")
	})
	o.eventually(deployments, "microservice", func(obj *unstructured.Unstructured) error {
		if !strings.Contains(fmt.Sprint(obj.Object["spec"]), "nginxinc/nginx-unprivileged:1.27") {
			return fmt.Errorf("the image is still the one set by hand")
		}
		return nil
	})
	child, err := o.get(t.Context(), services, "microservice")
	if err != nil {
		t.Fatal(err)
	}
	o.delete(child)
	o.eventually(services, "microservice", func(obj *unstructured.Unstructured) error {
		if obj.GetUID() == child.GetUID() {
			return fmt.Errorf("not deleted yet")
		}
		return nil
	})
	o.delete(service)
	o.gone(gvk, "microservice")
	o.gone(deployments, "microservice")
}

// Decorating a built-in kind, selector, leaving the selector.
func deploymentScenario(t *testing.T, o *operator, _ *outside) {
	t.Helper()
	web := o.sample("apps_v1_deployment.yaml")
	plain := web.DeepCopy()
	plain.SetName("plain")
	plain.SetLabels(nil)
	plain.SetResourceVersion("")
	if err := o.client.Create(t.Context(), plain); err != nil {
		t.Fatal(err)
	}
	service := o.eventually(services, "web-web", func(*unstructured.Unstructured) error { return nil })
	if owners := service.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != web.GetUID() {
		t.Errorf("the Service's owners are %v", owners)
	}
	o.edit(web, func(obj *unstructured.Unstructured) { obj.SetLabels(nil) })
	o.gone(services, "web-web")
	o.eventually(deployments, "web", func(obj *unstructured.Unstructured) error {
		if len(obj.GetFinalizers()) > 0 {
			return fmt.Errorf("finalizers are %v", obj.GetFinalizers())
		}
		return nil
	})
	o.eventuallyEvent("web", "Normal", "Released", "selector")
	o.edit(web, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"app-type": "web"}) })
	o.eventually(services, "web-web", func(*unstructured.Unstructured) error { return nil })
	o.delete(web)
	o.gone(deployments, "web")
	if _, err := o.get(t.Context(), services, "plain-web"); err == nil {
		t.Error("a Deployment without the label got a Service")
	}
}

// Reacting to built-in objects, no secret in any log (see the end of the test).
func secretScenario(_ *testing.T, o *operator, store *outside) {
	secret := o.sample("core_v1_secret.yaml")
	path := "/secrets/" + o.namespace + "/external-credentials"
	testkit.Eventually(o.t, soon, func(context.Context) error { return store.holds(path, "bm90LWEtcmVhbC10b2tlbg==") })
	o.edit(secret, set("YW5vdGhlcg==", "data", "token"))
	testkit.Eventually(o.t, soon, func(context.Context) error { return store.holds(path, "YW5vdGhlcg==") })
}

// Finalizer removes an external bucket, Ready with replica count, validation by schema.
func postgresScenario(t *testing.T, o *operator, store *outside) {
	t.Helper()
	wrong := testkit.ReadYAML(t, filepath.Join("deploy", "samples", "db_v1alpha1_postgrescluster.yaml"))
	wrong.SetNamespace(o.namespace)
	wrong.SetName("wrong")
	_ = unstructured.SetNestedField(wrong.Object, "many", "spec", "replicas")
	if err := o.client.Create(t.Context(), wrong); err == nil {
		t.Error("the schema takes replicas that are no number")
	}
	cluster := o.sample("db_v1alpha1_postgrescluster.yaml")
	gvk := cluster.GroupVersionKind()
	got := o.eventually(gvk, "postgres", ready)
	if replicas, _, _ := unstructured.NestedInt64(got.Object, "status", "outputs", "readyReplicas"); replicas != 3 {
		t.Errorf("status.outputs is %v", got.Object["status"])
	}
	if err := store.holds("/buckets/postgres-backups", ""); err != nil {
		t.Error(err)
	}
	o.delete(cluster)
	o.gone(gvk, "postgres")
	if err := store.holds("/buckets/postgres-backups", ""); err == nil {
		t.Error("the bucket outlives its cluster")
	}
	o.gone(statefulSets, "postgres")
}

// Scheduled backup Job, observed readyReplicas.
func mysqlScenario(t *testing.T, o *operator, _ *outside) {
	t.Helper()
	cluster := o.sample("db_v1alpha1_mysqlcluster.yaml")
	got := o.eventually(cluster.GroupVersionKind(), "mysql", ready)
	if replicas, _, _ := unstructured.NestedInt64(got.Object, "status", "outputs", "readyReplicas"); replicas != 2 {
		t.Errorf("status.outputs is %v", got.Object["status"])
	}
	testkit.Eventually(t, soon, func(ctx context.Context) error {
		jobs := &batchv1.JobList{}
		err := o.client.List(ctx, jobs, client.InNamespace(o.namespace), client.MatchingLabels{"app.kubernetes.io/component": "backup"})
		if err == nil && len(jobs.Items) == 0 {
			err = errors.New("no backup was started")
		}
		return err
	})
	secret, err := o.get(t.Context(), secrets, "mysql-credentials")
	if err != nil {
		t.Fatal(err)
	}
	password, _, _ := unstructured.NestedString(secret.Object, "data", "password")
	o.edit(cluster, set(int64(3), "spec", "replicas"))
	o.eventually(cluster.GroupVersionKind(), "mysql", func(obj *unstructured.Unstructured) error {
		if err := ready(obj); err != nil {
			return err
		}
		return field(int64(3), "status", "outputs", "readyReplicas")(obj)
	})
	secret, err = o.get(t.Context(), secrets, "mysql-credentials")
	if err != nil {
		t.Fatal(err)
	}
	if again, _, _ := unstructured.NestedString(secret.Object, "data", "password"); again != password {
		t.Error("the password was made anew")
	}
}

// Waiting outcome, external call, waking on the status of a child, a permanent failure.
func trainingScenario(t *testing.T, o *operator, store *outside) {
	t.Helper()
	training := o.sample("ml_v1_trainingjob.yaml")
	gvk := training.GroupVersionKind()
	o.eventually(gvk, "training", func(obj *unstructured.Unstructured) error {
		return condition(obj, "Ready", "False", "QuotaExceeded")
	})
	store.allow()
	got := o.eventually(gvk, "training", ready)
	if err := field("Succeeded", "status", "outputs", "phase")(got); err != nil {
		t.Error(err)
	}
	job, _, _ := unstructured.NestedString(got.Object, "status", "outputs", "job")
	if _, err := o.get(t.Context(), batchv1.SchemeGroupVersion.WithKind("Job"), job); err != nil {
		t.Error(err)
	}
	// The playbook itself would be back after ten minutes only.
	if n := o.log.count(`"name":"training"`, `"outcome":"Succeeded"`, `"trigger":"dependent"`); n == 0 {
		t.Errorf("the end of the Job did not wake its TrainingJob\n%s", o.log.text())
	}
	o.edit(training, set("ftp://old/store", "spec", "dataset", "uri"))
	o.eventually(gvk, "training", func(obj *unstructured.Unstructured) error {
		if err := testkit.HasCondition(obj, "Stalled", "True"); err != nil {
			return err
		}
		return condition(obj, "Ready", "False", "InvalidDataset")
	})
}

// set returns an edit that sets one field.
func set(value any, path ...string) func(*unstructured.Unstructured) {
	return func(obj *unstructured.Unstructured) { _ = unstructured.SetNestedField(obj.Object, value, path...) }
}

// field compares one field.
func field(want any, path ...string) func(*unstructured.Unstructured) error {
	return func(obj *unstructured.Unstructured) error {
		got, _, err := unstructured.NestedFieldCopy(obj.Object, path...)
		if err == nil && got != want {
			err = fmt.Errorf("%s is %v, want %v", strings.Join(path, "."), got, want)
		}
		return err
	}
}
