package helm

import (
	"fmt"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/kube"
	"k8s.io/cli-runtime/pkg/resource"
)

// remakeTimeout is how long the deletion of an object may take that is to be made anew.
const remakeTimeout = 2 * time.Minute

// forced carries out an update and, where an object cannot be changed in place, deletes it and tries again. Helm's own way
// of forcing is to replace every object, which fails for objects whose fields the cluster has filled in.
func (c *client) forced(target kube.ResourceList, update func() (*kube.Result, error)) (*kube.Result, error) {
	for range target {
		result, err := update()
		if err == nil {
			return result, nil
		}
		fixed := immutable(target, err)
		if len(fixed) == 0 {
			return result, err
		}
		for _, info := range fixed {
			if err := c.remove(info); err != nil {
				return result, err
			}
		}
	}
	return update()
}

// remove deletes an object and waits until it is gone.
func (c *client) remove(info *resource.Info) error {
	name := title(info, c.Namespace)
	if err := deleteOne(resource.NewHelper(info.Client, info.Mapping), info); err != nil {
		return fmt.Errorf("delete %s to make it anew: %w", name, err)
	}
	c.tell.object(name, "deleted, for it cannot be changed in place; it is made anew")
	return c.await(info, remakeTimeout, goneState)
}

// immutable returns the objects that an update could not change in place, unless something would be lost with them. Helm
// joins the errors of objects to one text.
func immutable(target kube.ResourceList, err error) []*resource.Info {
	var found []*resource.Info
	for problem := range strings.SplitSeq(err.Error(), " && ") {
		if !isImmutable(problem) {
			continue
		}
		for _, info := range target {
			kind := info.Mapping.GroupVersionKind.Kind
			if strings.Contains(problem, fmt.Sprintf("cannot patch %q with kind %s: ", info.Name, kind)) && !holdsData(info) {
				found = append(found, info)
			}
		}
	}
	return found
}

// holdsData reports whether more would be lost with an object than the chart says of it.
func holdsData(info *resource.Info) bool {
	switch info.Mapping.GroupVersionKind.Kind {
	case "PersistentVolumeClaim", "PersistentVolume", "Namespace", "CustomResourceDefinition":
		return true
	}
	return kept(object(info))
}

// isImmutable reports whether the API server's words say that a field cannot be changed.
func isImmutable(text string) bool {
	if !strings.Contains(text, "is invalid: ") { // Helm joins the texts of errors, so that their types are lost
		return false
	}
	for _, fixed := range []string{"immutable", "may not change", "Forbidden: updates to"} {
		if strings.Contains(text, fixed) {
			return true
		}
	}
	return false
}

// explain adds to an error what to do about it, where the API server's words leave that open.
func explain(err error) string { return withAdvice(err.Error()) }

func withAdvice(text string) string {
	if isImmutable(text) {
		return text + " (this field cannot be changed in place; delete the object to have it made anew)"
	}
	return text
}
