package helm

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/kube"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// CRDPolicy says what an install or upgrade does about the definitions in a chart's crds directories.
type CRDPolicy string

// The policies. Definitions are never deleted: every resource of their kinds would go with them.
const (
	CRDCreate  CRDPolicy = "Create"  // make those that are missing and leave the others alone
	CRDSkip    CRDPolicy = "Skip"    // do nothing
	CRDReplace CRDPolicy = "Replace" // make those that are missing, and bring the others to what the chart has
)

// crdTimeout is how long the API server may take to serve a new kind.
const crdTimeout = time.Minute

// errStoredVersion is for a definition that may not be replaced.
var errStoredVersion = errors.New("objects in the cluster are stored in that version; migrate them and take it out of status.storedVersions first")

// prepareCRDs makes or replaces the chart's definitions before its objects. It looks at all of them before it changes
// one.
func (r *run) prepareCRDs(did engine.Action) *engine.Result {
	if r.e.cfg.CRDs == CRDSkip {
		return nil
	}
	wanted, err := r.definitions()
	if err != nil {
		return r.refuse(engine.ReasonInvalidChart, err.Error())
	}
	if len(wanted) == 0 {
		return nil
	}
	lives, errs := r.readAll(wanted)
	for i, info := range wanted {
		if err := r.checkDefinition(info, lives[i], errs[i]); errors.Is(err, errStoredVersion) {
			return r.refuse(engine.ReasonStoredVersion, err.Error())
		} else if err != nil {
			result := r.actionFailed(did, nil, err)
			return &result
		}
	}
	if err := r.writeDefinitions(wanted, lives, errs); err != nil {
		result := r.actionFailed(did, nil, err)
		return &result
	}
	return nil
}

// definitions returns the chart's, with those of its dependencies that the values enable.
func (r *run) definitions() (kube.ResourceList, error) {
	c := r.content.clone()
	if err := chartutil.ProcessDependenciesWithMerge(c, cloneMap(r.job.Inputs)); err != nil {
		return nil, fmt.Errorf("process the chart's dependencies: %w", err)
	}
	var all kube.ResourceList
	for _, crd := range c.CRDObjects() {
		infos, err := r.readDefinitions(crd)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", crd.Filename, err)
		}
		all = append(all, infos...)
	}
	return all, nil
}

// readDefinitions reads one file. Definitions get no owner: they are there for all resources, and stay.
func (r *run) readDefinitions(crd chart.CRD) (kube.ResourceList, error) {
	if len(bytes.TrimSpace(crd.File.Data)) == 0 {
		return nil, nil
	}
	return r.client.parse(bytes.NewReader(crd.File.Data))
}

// checkDefinition says what keeps a definition from being used.
func (r *run) checkDefinition(info *resource.Info, live *unstructured.Unstructured, err error) error {
	switch {
	case err != nil && r.e.cfg.CRDs != CRDReplace && r.served(object(info)):
		return nil // it may not be read, and need not be: what it defines is there
	case err != nil:
		return fmt.Errorf("look at CRD %s: %w", info.Name, err)
	case live == nil || r.e.cfg.CRDs != CRDReplace:
		return nil
	}
	stored, _, _ := unstructured.NestedStringSlice(live.Object, "status", "storedVersions")
	has := versionsOf(object(info))
	for _, version := range stored {
		if !slices.Contains(has, version) {
			return fmt.Errorf("the chart's CRD %s has no version %s any more: %w", info.Name, version, errStoredVersion)
		}
	}
	return nil
}

// served reports whether the API server serves the kind of a definition.
func (r *run) served(crd *unstructured.Unstructured) bool {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	_, err := r.getter.mapper.RESTMappings(groupKindOf(group, kind))
	return err == nil
}

// versionsOf returns the names of a definition's versions.
func versionsOf(crd *unstructured.Unstructured) []string {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var names []string
	for _, item := range versions {
		version, _ := item.(map[string]any)
		name, _ := version["name"].(string)
		names = append(names, name)
	}
	return names
}

// writeDefinitions makes and replaces what has to be, and waits until it is served.
func (r *run) writeDefinitions(wanted kube.ResourceList, lives []*unstructured.Unstructured, errs []error) error {
	var written kube.ResourceList
	for i, info := range wanted {
		if errs[i] != nil {
			continue // see checkDefinition
		}
		did, err := r.writeDefinition(info, lives[i])
		if err != nil {
			return fmt.Errorf("CRD %s: %w", info.Name, err)
		}
		if did != "" {
			written = append(written, info)
			r.tell.object("CustomResourceDefinition/"+info.Name, did)
		}
	}
	if len(written) == 0 {
		return nil
	}
	if err := r.client.Wait(written, crdTimeout); err != nil {
		return err
	}
	meta.MaybeResetRESTMapper(r.getter.mapper)
	if err := r.useCapabilities(); err != nil {
		return err
	}
	return r.digestInputs() // the templates see the new kinds
}

// writeDefinition says in words what it did to a definition; nothing if it is as it should be.
func (r *run) writeDefinition(info *resource.Info, live *unstructured.Unstructured) (string, error) {
	helper := resource.NewHelper(info.Client, info.Mapping).WithFieldManager(fieldManager())
	switch {
	case live == nil:
		_, err := helper.Create("", true, info.Object)
		return "created", err
	case r.e.cfg.CRDs != CRDReplace:
		return "", nil
	}
	after, err := helper.Replace("", info.Name, false, replacement(object(info), live))
	if err != nil {
		return "", err
	}
	if now := object(&resource.Info{Object: after}); now != nil && now.GetResourceVersion() == live.GetResourceVersion() {
		return "", nil
	}
	return "replaced by the chart's", nil
}

// replacement returns the live definition with what the chart says: its spec, and its labels and annotations beside
// others'. A certificate authority that someone put in for a conversion webhook stays where the chart has none.
func replacement(want, live *unstructured.Unstructured) *unstructured.Unstructured {
	out := live.DeepCopy()
	for key, value := range want.GetLabels() {
		setLabel(out, key, value)
	}
	for key, value := range want.GetAnnotations() {
		setAnnotation(out, key, value)
	}
	spec, _ := want.DeepCopy().Object["spec"].(map[string]any)
	bundle := []string{"conversion", "webhook", "clientConfig", "caBundle"}
	ca, _, _ := unstructured.NestedString(live.Object, append([]string{"spec"}, bundle...)...)
	_, webhook, _ := unstructured.NestedMap(spec, bundle[:3]...)
	if own, _, _ := unstructured.NestedString(spec, bundle...); ca != "" && webhook && strings.TrimSpace(own) == "" {
		_ = unstructured.SetNestedField(spec, ca, bundle...) // its parents are mappings
	}
	out.Object["spec"] = spec
	return out
}
