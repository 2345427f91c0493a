package helm

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
)

// runsToEnd reports whether Helm waits for an object of a hook to run to its end.
func runsToEnd(info *resource.Info) bool {
	gvk := info.Mapping.GroupVersionKind
	return gvk.Group == "batch" && gvk.Kind == "Job" || gvk.Group == "" && gvk.Kind == "Pod"
}

// hookState is the verdict on a Job or Pod that has to run to its end. One that was deleted has ended.
func hookState(obj *unstructured.Unstructured) (bool, error) {
	if obj == nil {
		return true, nil
	}
	if obj.GetKind() == "Pod" {
		return podState(obj)
	}
	if is, _ := condition(obj, "Complete"); is {
		return true, nil
	}
	if is, why := condition(obj, "Failed"); is {
		return true, fmt.Errorf("hook Job/%s failed: %w", obj.GetName(), errors.New(why))
	}
	return false, nil
}

func podState(obj *unstructured.Unstructured) (bool, error) {
	phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
	switch phase {
	case "Succeeded":
		return true, nil
	case "Failed":
		reason, _, _ := unstructured.NestedString(obj.Object, "status", "reason")
		message, _, _ := unstructured.NestedString(obj.Object, "status", "message")
		return true, fmt.Errorf("hook Pod/%s failed: %w", obj.GetName(), errors.New(because(reason, message)))
	}
	return false, nil
}

// goneState is the verdict on an object that is being deleted.
func goneState(obj *unstructured.Unstructured) (bool, error) { return obj == nil, nil }

// establishedState is the verdict on a CRD that has to be served. Other objects are ready at once.
func establishedState(obj *unstructured.Unstructured) (bool, error) {
	if obj == nil || obj.GetKind() != "CustomResourceDefinition" {
		return true, nil
	}
	if is, _ := condition(obj, "Established"); is {
		return true, nil
	}
	is, why := conditionIs(obj, "NamesAccepted", "False")
	if is {
		return true, fmt.Errorf("CRD %s is not accepted: %w", obj.GetName(), errors.New(why))
	}
	return false, nil
}

// condition reports whether a condition is True, and why.
func condition(obj *unstructured.Unstructured, kind string) (bool, string) {
	return conditionIs(obj, kind, "True")
}

func conditionIs(obj *unstructured.Unstructured, kind, status string) (bool, string) {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, item := range conditions {
		c, _ := item.(map[string]any)
		if c["type"] == kind && c["status"] == status {
			reason, _ := c["reason"].(string)
			message, _ := c["message"].(string)
			return true, because(reason, message)
		}
	}
	return false, ""
}

// because joins a reason and a message, either of which may be missing.
func because(reason, message string) string {
	text := strings.TrimSuffix(strings.TrimSpace(reason+": "+message), ":")
	text = strings.TrimPrefix(text, ": ")
	if text == "" {
		return "no reason given"
	}
	return text
}
