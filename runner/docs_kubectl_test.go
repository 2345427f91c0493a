package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// show implements "kubectl get KIND NAME [-o jsonpath=TEMPLATE]".
func (s shell) show(ctx context.Context, args []string) (string, error) {
	mapping, err := s.mapping(args[0])
	if err != nil {
		return "", err
	}
	obj, err := s.get(ctx, mapping.GroupVersionKind, args[1])
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("Error from server (NotFound): %v", err), nil
	case err != nil:
		return "", err
	case len(args) == 2:
		return s.columns(ctx, mapping, args[1])
	}
	template := jsonpath.New("page").AllowMissingKeys(true)
	if err := template.Parse(strings.TrimPrefix(args[3], "jsonpath=")); err != nil {
		return "", err
	}
	var out strings.Builder
	err = template.Execute(&out, obj.Object)
	return out.String(), err
}

// columns has the API server make the table that kubectl shows.
func (s shell) columns(ctx context.Context, mapping *meta.RESTMapping, name string) (string, error) {
	c, err := rest.HTTPClientFor(s.config)
	if err != nil {
		return "", err
	}
	gv := mapping.GroupVersionKind.GroupVersion()
	url := fmt.Sprintf("%s/apis/%s/namespaces/%s/%s/%s", s.config.Host, gv, s.namespace, mapping.Resource.Resource, name)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	response, err := c.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var shown metav1.Table
	if err := json.NewDecoder(response.Body).Decode(&shown); err != nil {
		return "", err
	}
	var out strings.Builder
	err = printers.NewTablePrinter(printers.PrintOptions{}).PrintObj(&shown, &out)
	return out.String(), err
}

// wait implements "kubectl wait --for=condition=TYPE KIND/NAME": as kubectl's, it holds a condition of an older
// generation for none.
func (s shell) wait(ctx context.Context, args []string) (string, error) {
	kind, name, _ := strings.Cut(args[1], "/")
	mapping, err := s.mapping(kind)
	if err != nil {
		return "", err
	}
	obj, err := s.get(ctx, mapping.GroupVersionKind, name)
	if err != nil {
		return "", err
	}
	c, err := testkit.Condition(obj, strings.TrimPrefix(args[0], "--for=condition="))
	if err != nil {
		return "", err
	}
	if c["status"] != "True" || c["observedGeneration"] != obj.GetGeneration() {
		return "", fmt.Errorf("generation %d has the condition %v", obj.GetGeneration(), c)
	}
	return title(mapping, name) + " condition met", nil
}

// patch implements "kubectl patch KIND NAME --type=merge -p PATCH".
func (s shell) patch(args []string) (string, error) {
	mapping, err := s.mapping(args[0])
	if err != nil {
		return "", err
	}
	obj := testkit.Object(mapping.GroupVersionKind, s.namespace, args[1], nil)
	err = s.client.Patch(s.t.Context(), obj, client.RawPatch(types.MergePatchType, []byte(args[4])))
	var answer apierrors.APIStatus
	if apierrors.IsInvalid(err) && errors.As(err, &answer) {
		details := answer.Status().Details
		return fmt.Sprintf("The %s %q is invalid: %s: %s", details.Kind, details.Name, details.Causes[0].Field, details.Causes[0].Message), nil
	}
	return title(mapping, args[1]) + " patched", err
}

// remove deletes an object and waits until this very object is gone.
func (s shell) remove(kind, name string) error {
	mapping, err := s.mapping(kind)
	if err != nil {
		return err
	}
	obj, err := s.get(s.t.Context(), mapping.GroupVersionKind, name)
	if err != nil {
		return err
	}
	s.delete(obj)
	testkit.Eventually(s.t, soon, func(ctx context.Context) error {
		now, err := s.get(ctx, mapping.GroupVersionKind, name)
		if err == nil && now.GetUID() == obj.GetUID() {
			return fmt.Errorf("%s %s is still there: %v", kind, name, now.Object["status"])
		}
		return client.IgnoreNotFound(err)
	})
	return nil
}
