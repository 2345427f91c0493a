package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// stub does by hand what the operator does for the samples, so far as the demo looks at it.
type stub struct {
	client.Client
	namespace string
	broken    string // a kind that it leaves alone
	runs      int
}

// stubFinalizer is on what the stub has to clean up after.
const stubFinalizer = "example.com/stub"

// stubInterval is how often the stub looks at everything.
const stubInterval = 100 * time.Millisecond

// stubOperator is the main function of the stub.
func stubOperator(args []string) int {
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "")
	probe := flags.String("health-probe-bind-address", "", "")
	_ = flags.String("watches-file", "", "")
	_ = flags.String("metrics-bind-address", "", "")
	_ = flags.Duration("graceful-shutdown-timeout", 0, "")
	if err := flags.Parse(args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if os.Getenv(stubEnv) == "crash" {
		fmt.Fprintln(os.Stderr, `{"level":"error","msg":"Cannot start","error":"the stub was told to crash"}`)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	config, err := clusterConfig(*kubeconfig)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	go func() { fmt.Fprintln(os.Stderr, http.ListenAndServe(*probe, mux)) }()
	s := &stub{Client: c, namespace: os.Getenv("WATCH_NAMESPACE"), broken: os.Getenv("CHARTBOOK_DEMO_BROKEN")}
	for ctx.Err() == nil {
		s.lookAtAll(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(stubInterval):
		}
	}
	return 0
}

func (s *stub) lookAtAll(ctx context.Context) {
	samples, err := readSamples("../../deploy/samples", s.namespace)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for _, sample := range samples {
		obj := named(sample.GroupVersionKind(), s.namespace, sample.GetName())
		if s.Get(ctx, client.ObjectKeyFromObject(obj), obj) != nil || obj.GetKind() == s.broken {
			continue
		}
		begun := time.Now()
		changed, err := s.reconcile(ctx, obj)
		outcome := "Changed"
		if err != nil {
			outcome = "Transient"
		}
		if changed || err != nil {
			s.runs++
			line := stubJSON(map[string]any{"level": "info", "msg": "Reconciled", "run": fmt.Sprintf("r%d", s.runs),
				"kind": obj.GetKind(), "namespace": obj.GetNamespace(), "name": obj.GetName(), "trigger": "stub",
				"outcome": outcome, "reason": fmt.Sprint(err), "duration": time.Since(begun).Seconds()})
			fmt.Fprintln(os.Stderr, line)
		}
	}
}

func (s *stub) reconcile(ctx context.Context, obj *unstructured.Unstructured) (changed bool, err error) {
	switch obj.GetKind() {
	case "Sample":
		message, _, _ := unstructured.NestedString(obj.Object, "spec", "message")
		child := named(configMapKind, s.namespace, obj.GetName()+"-config")
		changed, err = s.keep(ctx, obj, child, "data", map[string]any{"message": message})
	case "Microservice":
		child := named(serviceKind, s.namespace, obj.GetName())
		changed, err = s.keep(ctx, obj, child, "spec", stubServiceSpec())
	case "PostgresCluster":
		changed, err = s.postgres(ctx, obj)
	case "Deployment":
		changed, err = s.deployment(ctx, obj)
	}
	if err != nil || obj.GetDeletionTimestamp() != nil {
		return changed, err
	}
	told, err := s.record(ctx, obj)
	return changed || told, err
}

func stubServiceSpec() map[string]any {
	return map[string]any{"ports": []any{map[string]any{"port": int64(80), "protocol": "TCP", "targetPort": int64(80)}}}
}

// keep makes a child, or puts its field right.
func (s *stub) keep(ctx context.Context, owner, child *unstructured.Unstructured, field string, want map[string]any) (changed bool, err error) {
	result, err := controllerutil.CreateOrUpdate(ctx, s.Client, child, func() error {
		have, _, _ := unstructured.NestedMap(child.Object, field)
		if have == nil {
			have = map[string]any{}
		}
		maps.Copy(have, want)
		child.Object[field] = have
		return controllerutil.SetOwnerReference(owner, child, s.Scheme())
	})
	return result != controllerutil.OperationResultNone, err
}

func (s *stub) postgres(ctx context.Context, obj *unstructured.Unstructured) (changed bool, err error) {
	bucket, _, _ := unstructured.NestedString(obj.Object, "spec", "backup", "bucket")
	url := os.Getenv("EXTERNAL_STORE_URL") + "/buckets/" + bucket
	if obj.GetDeletionTimestamp() != nil {
		if err := stubAsk(ctx, http.MethodDelete, url); err != nil || !controllerutil.RemoveFinalizer(obj, stubFinalizer) {
			return false, err
		}
		return true, s.Update(ctx, obj)
	}
	if controllerutil.AddFinalizer(obj, stubFinalizer) {
		if err := s.Update(ctx, obj); err != nil {
			return false, err
		}
	}
	if err := stubAsk(ctx, http.MethodPut, url); err != nil {
		return false, err
	}
	return s.keep(ctx, obj, named(secretKind, s.namespace, obj.GetName()+"-credentials"), "data", nil)
}

func (s *stub) deployment(ctx context.Context, obj *unstructured.Unstructured) (changed bool, err error) {
	service := named(serviceKind, s.namespace, obj.GetName()+"-web")
	if obj.GetLabels()[webLabel] == "web" && obj.GetDeletionTimestamp() == nil {
		if controllerutil.AddFinalizer(obj, stubFinalizer) {
			if err := s.Update(ctx, obj); err != nil {
				return false, err
			}
		}
		return s.keep(ctx, obj, service, "spec", stubServiceSpec())
	}
	if !controllerutil.RemoveFinalizer(obj, stubFinalizer) {
		return false, nil
	}
	if err := client.IgnoreNotFound(s.Delete(ctx, service)); err != nil {
		return false, err
	}
	return true, s.Update(ctx, obj)
}

// record says that all is well, in status or in the annotation.
func (s *stub) record(ctx context.Context, obj *unstructured.Unstructured) (changed bool, err error) {
	ready := map[string]any{"type": "Ready", "status": "True", "reason": "Succeeded", "message": "", "observedGeneration": obj.GetGeneration()}
	status, annotated := statusOf(obj)
	if c := conditionOf(status, "Ready"); c.status == "True" && (annotated || c.observed == obj.GetGeneration()) {
		return false, nil
	}
	patch := map[string]any{"status": map[string]any{"conditions": []any{ready}}}
	builtIn := !strings.HasSuffix(obj.GroupVersionKind().Group, "example.com")
	if builtIn {
		record := stubJSON(patch["status"])
		patch = map[string]any{"metadata": map[string]any{"annotations": map[string]any{recordAnnotation: record}}}
	}
	data := stubJSON(patch)
	change := client.RawPatch("application/merge-patch+json", []byte(data))
	if builtIn {
		return true, s.Patch(ctx, obj, change)
	}
	return true, s.Status().Patch(ctx, obj, change)
}

func stubAsk(ctx context.Context, method, url string) error {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func stubJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}
