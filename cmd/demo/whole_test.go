package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// localcluster returns the path of the control plane's program, which 'make localcluster' builds.
func localcluster(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	program := os.Getenv("LOCALCLUSTER_BIN")
	if program == "" {
		program = filepath.Join("..", "..", "bin", "localcluster")
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%v; run 'make localcluster' once", err)
	}
	return program
}

// output keeps what a demo prints and tells when a text has been printed.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	waiting map[string]chan struct{}
}

func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(data)
	for text, seen := range o.waiting {
		if strings.Contains(o.text.String(), text) {
			close(seen)
			delete(o.waiting, text)
		}
	}
	return len(data), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (o *output) seen(text string) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting == nil {
		o.waiting = map[string]chan struct{}{}
	}
	o.waiting[text] = make(chan struct{})
	return o.waiting[text]
}

// start runs a command line of the demo over the shipped samples, with the stub in place of the operator.
func start(ctx context.Context, t *testing.T, out *output, args ...string) error {
	t.Helper()
	if os.Getenv(stubEnv) == "" {
		t.Setenv(stubEnv, "1")
	}
	root := newRootCommand(context.WithoutCancel(ctx))
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(out)
	err := root.ExecuteContext(ctx)
	t.Logf("%v:\n%s", args, out)
	return err
}

func demoArgs(t *testing.T, dir, cluster string) []string {
	t.Helper()
	stub, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--cluster", cluster, "--dir", dir, "--operator", stub, "--localcluster", localcluster(t),
		"--crds", "../../deploy/crds", "--samples", "../../deploy/samples", "--timeout", "90s"}
}

func wantText(t *testing.T, out *output, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(out.String(), text) {
			t.Errorf("%q was never printed", text)
		}
	}
}

func TestWholeOnALocalCluster(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("KUBECONFIG", filepath.Join(dir, "not-to-be-used"))
	var out output
	if err := start(t.Context(), t, &out, demoArgs(t, dir, clusterLocal)...); err != nil {
		t.Fatal(err)
	}
	wantText(t, &out, "8 samples applied", "ConfigMap/sample-config has the new message", "is as the spec says again",
		"Service/microservice is back", "bucket postgres-backups is removed", "its 1 children are gone",
		"Deployment/web is left alone", "Summary", "Done")
	if _, err := os.Stat(filepath.Join(dir, "cluster")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the control plane's directory is still there: %v", err)
	}
}

// currentCluster starts a cluster that stands for the user's own and makes it the current one.
func currentCluster(t *testing.T) *kube {
	t.Helper()
	program, dir := localcluster(t), filepath.Join(t.TempDir(), "theirs")
	call := func(args ...string) {
		if out, err := exec.Command(program, append(args, "--dir", dir)...).CombinedOutput(); err != nil {
			t.Fatalf("localcluster %v: %v: %s", args, err, out)
		}
	}
	t.Cleanup(func() { call("down") })
	call("up", "--wait", "3m")
	kubeconfig := filepath.Join(dir, "kubeconfig")
	t.Setenv("KUBECONFIG", kubeconfig)
	config, err := clusterConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	k, err := newKube(config, "default")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestWholeOnTheCurrentCluster plays on a cluster that has things of its own, which must all be there afterwards.
func TestWholeOnTheCurrentCluster(t *testing.T) {
	k := currentCluster(t)
	theirs := theirThings(t, k)
	t.Run("CleansUp", func(t *testing.T) {
		dir := t.TempDir()
		killedDemo(t, k)
		var out output
		if err := start(t.Context(), t, &out, demoArgs(t, dir, clusterCurrent)...); err != nil {
			t.Fatal(err)
		}
		wantText(t, &out, "Using context", "Done", "CRD databases.example.com stays: it has 1 resources")
		wantNothingLeft(t, k, dir, theirs)
	})
	t.Run("StopsWhenInterrupted", func(t *testing.T) {
		dir := t.TempDir()
		t.Setenv("CHARTBOOK_DEMO_BROKEN", "MySQLCluster") // so that there is something to interrupt
		ctx, interrupt := context.WithCancelCause(t.Context())
		var out output
		applied := out.seen("samples applied")
		go func() {
			<-applied
			interrupt(errInterrupted)
		}()
		if err := start(ctx, t, &out, demoArgs(t, dir, clusterCurrent)...); !errors.Is(err, errInterrupted) {
			t.Errorf("got %v", err)
		}
		wantNothingLeft(t, k, dir, theirs)
	})
	t.Run("TellsWhyItFailed", func(t *testing.T) {
		dir := t.TempDir()
		t.Setenv(stubEnv, "crash")
		var out output
		err := start(t.Context(), t, &out, demoArgs(t, dir, clusterCurrent)...)
		if err == nil || !strings.Contains(err.Error(), "the operator ended") {
			t.Errorf("got %v", err)
		}
		wantText(t, &out, "error: Cannot start error=the stub was told to crash")
		wantNothingLeft(t, k, dir, theirs)
	})
	t.Run("LeavesOthersAlone", func(t *testing.T) {
		dir := t.TempDir()
		var out output
		err := start(t.Context(), t, &out, append(demoArgs(t, dir, clusterCurrent), "--namespace", "default")...)
		if err == nil || !strings.Contains(err.Error(), "namespace default has a Sample/sample that the demo did not make") {
			t.Errorf("got %v", err)
		}
		wantNothingLeft(t, k, dir, theirs)
	})
	t.Run("IsKeptAndTakenDown", func(t *testing.T) {
		dir := t.TempDir()
		var out output
		if err := start(t.Context(), t, &out, append(demoArgs(t, dir, clusterCurrent), "--keep")...); err != nil {
			t.Fatal(err)
		}
		wantKept(t, dir)
		if err := start(t.Context(), t, &out, "down", "--dir", dir); err != nil {
			t.Errorf("take down: %v", err)
		}
		wantNothingLeft(t, k, dir, theirs)
	})
}

// theirThings puts into the cluster what is not the demo's, and returns it: a CRD with a resource; a resource of a
// CRD that an earlier demo installed.
func theirThings(t *testing.T, k *kube) []*unstructured.Unstructured {
	t.Helper()
	crds, err := readManifests("../../deploy/crds")
	if err != nil {
		t.Fatal(err)
	}
	samples, err := readSamples("../../deploy/samples", "default")
	if err != nil {
		t.Fatal(err)
	}
	var theirs []*unstructured.Unstructured
	create := func(obj *unstructured.Unstructured) {
		if err := k.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
		theirs = append(theirs, obj)
	}
	for _, crd := range crds {
		switch crd.GetName() {
		case "databases.example.com":
			markOurs(crd)
			fallthrough
		case "samples.demo.example.com":
			create(crd)
			if err := k.until(t.Context(), crd, established); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, s := range samples {
		if kind := s.GetKind(); kind == "Database" || kind == "Sample" {
			s.SetLabels(nil)
			if err := k.awaitServed(t.Context(), s.GroupVersionKind()); err != nil {
				t.Fatal(err)
			}
			create(s.Unstructured)
		}
	}
	return theirs
}

// killedDemo leaves what a demo that was killed may leave: a resource that waits for its finalizer, and all around it.
func killedDemo(t *testing.T, k *kube) {
	t.Helper()
	crds, err := readManifests("../../deploy/crds")
	if err != nil {
		t.Fatal(err)
	}
	create := func(obj *unstructured.Unstructured) {
		markOurs(obj)
		if err := k.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	for _, crd := range crds {
		if crd.GetName() == "postgresclusters.db.example.com" {
			create(crd)
		}
	}
	create(named(namespaceKind, "", "chartbook-demo"))
	samples, err := readSamples("../../deploy/samples", "chartbook-demo")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if s.GetKind() != "PostgresCluster" {
			continue
		}
		if err := k.awaitServed(t.Context(), s.GroupVersionKind()); err != nil {
			t.Fatal(err)
		}
		s.SetFinalizers([]string{stubFinalizer})
		create(s.Unstructured)
		if err := k.remove(t.Context(), s.Unstructured); err != nil {
			t.Fatal(err)
		}
	}
}

// wantNothingLeft fails unless the cluster holds exactly what it did before.
func wantNothingLeft(t *testing.T, k *kube, dir string, theirs []*unstructured.Unstructured) {
	t.Helper()
	for _, obj := range theirs {
		if now, err := k.find(t.Context(), obj); err != nil || now == nil || now.GetUID() != obj.GetUID() {
			t.Errorf("%s is not as it was: %v, %v", describe(obj), now, err)
		}
	}
	if ns, err := k.find(t.Context(), named(namespaceKind, "", "chartbook-demo")); err != nil || ns != nil {
		t.Errorf("the namespace is still there: %v, %v", ns, err)
	}
	crds := &unstructured.UnstructuredList{}
	crds.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	if err := k.List(t.Context(), crds); err != nil || len(crds.Items) != 2 {
		t.Errorf("%d CRDs are left, want the 2 that were there before: %v", len(crds.Items), err)
	}
	for _, name := range []string{"kubeconfig", "tmp", keptFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

// wantKept fails unless operator and store run on.
func wantKept(t *testing.T, dir string) {
	t.Helper()
	k, err := readKept(dir)
	if err != nil || k == nil {
		t.Fatalf("kept: %v, %v", k, err)
	}
	if !k.Operator.alive() || !k.Store.alive() {
		t.Errorf("operator runs: %v, store runs: %v", k.Operator.alive(), k.Store.alive())
	}
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(k.Operator.PID), "environ"))
	if err != nil {
		t.Fatal(err)
	}
	for entry := range strings.SplitSeq(string(environ), "\x00") {
		if url, ok := strings.CutPrefix(entry, "TRAINING_API_URL="); ok {
			client := http.Client{Timeout: 10 * time.Second}
			response, err := client.Get(url + "/quota?gpus=1")
			if err != nil {
				t.Fatalf("ask the store that was handed over: %v", err)
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Errorf("the store that was handed over answers %s", response.Status)
			}
		}
	}
}
