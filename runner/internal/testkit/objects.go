package testkit

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

// Client returns a client that reads and writes without a cache.
func Client(tb testing.TB, config *rest.Config) client.Client {
	tb.Helper()
	c, err := client.New(config, client.Options{})
	if err != nil {
		tb.Fatalf("make a client: %v", err)
	}
	return c
}

// Namespace makes a namespace for one test and deletes it afterwards.
func Namespace(tb testing.TB, c client.Client) string {
	tb.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(tb.Context(), ns); err != nil {
		tb.Fatalf("create a namespace: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := client.IgnoreNotFound(c.Delete(ctx, ns)); err != nil {
			tb.Errorf("delete namespace %s: %v", ns.Name, err)
		}
	})
	return ns.Name
}

// InstallCRDs installs the CRDs found in the given files or directories and waits until they are served.
func InstallCRDs(tb testing.TB, config *rest.Config, paths ...string) {
	tb.Helper()
	install(tb, config, envtest.CRDInstallOptions{Paths: paths, ErrorIfPathMissing: true})
}

// InstallCRD installs one CRD for gvk and waits until it is served.
func InstallCRD(tb testing.TB, config *rest.Config, gvk schema.GroupVersionKind, options ...CRDOption) {
	tb.Helper()
	install(tb, config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{CRD(gvk, options...)}})
}

// install tries again when another test, perhaps of another process, installs the same CRDs at the same time.
func install(tb testing.TB, config *rest.Config, options envtest.CRDInstallOptions) {
	tb.Helper()
	var err error
	for range 5 {
		if _, err = envtest.InstallCRDs(config, options); err == nil {
			return
		}
		if !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) {
			break
		}
	}
	tb.Fatalf("install CRDs: %v", err)
}

// CRDOption changes what [CRD] makes.
type CRDOption func(*apiextensionsv1.CustomResourceDefinition)

// WithoutStatus leaves the status subresource out.
func WithoutStatus(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Spec.Versions[0].Subresources = nil
}

// ClusterScoped makes resources that live in no namespace.
func ClusterScoped(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Spec.Scope = apiextensionsv1.ClusterScoped
}

// CRD returns a definition of gvk that takes any spec and status. Names are unique to the group, so tests that
// share a control plane use a group of their own.
func CRD(gvk schema.GroupVersionKind, options ...CRDOption) *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	open := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve}
	plural := Plural(gvk.Kind)
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + gvk.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: gvk.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: plural, Singular: strings.ToLower(gvk.Kind), Kind: gvk.Kind, ListKind: gvk.Kind + "List",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: gvk.Version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": open, "status": open},
				}},
			}},
		},
	}
	for _, option := range options {
		option(crd)
	}
	return crd
}

// Plural returns the plural that [CRD] gives a kind.
func Plural(kind string) string { return strings.ToLower(kind) + "s" }

// Object returns a resource with the given spec; a nil spec leaves the field out.
func Object(gvk schema.GroupVersionKind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(gvk)
	obj.SetNamespace(namespace)
	obj.SetName(name)
	if spec != nil {
		obj.Object["spec"] = spec
	}
	return obj
}

// ReadYAML reads one object from a file.
func ReadYAML(tb testing.TB, path string) *unstructured.Unstructured {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(data, &obj.Object); err != nil {
		tb.Fatalf("parse %s: %v", path, err)
	}
	return obj
}

// Condition returns the condition of the given type as status.conditions holds it, or an error that says what is
// there instead.
func Condition(obj *unstructured.Unstructured, conditionType string) (map[string]any, error) {
	conditions, _, err := unstructured.NestedSlice(obj.Object, "status", "conditions")
	if err != nil {
		return nil, fmt.Errorf("read the conditions of %s: %w", obj.GetName(), err)
	}
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == conditionType {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%s %s has no condition %s: %v", obj.GetKind(), obj.GetName(), conditionType, obj.Object["status"])
}

// HasCondition returns nil when the condition has the given status.
func HasCondition(obj *unstructured.Unstructured, conditionType, status string) error {
	c, err := Condition(obj, conditionType)
	if err != nil {
		return err
	}
	if c["status"] != status {
		return fmt.Errorf("%s %s: condition %s is not %s: %v", obj.GetKind(), obj.GetName(), conditionType, status, c)
	}
	return nil
}
