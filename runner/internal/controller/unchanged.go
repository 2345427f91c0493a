package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// noteInputs notes what a run of the resource as it was looked at is made from, for a watch that resyncs only what changed.
func (r *reconciler) noteInputs(v *visit) {
	if r.Watch.Resync == watches.ResyncChanged && v.inputs == "" {
		v.inputs = inputsDigest(v.obj, r.Fingerprint())
	}
}

// unchanged reports whether a visit that nothing but time asks for finds what the last good run was made from.
func (r *reconciler) unchanged(v *visit) bool {
	byTime := v.trigger == engine.TriggerPeriod || v.trigger == engine.TriggerInitial
	if r.Watch.Resync != watches.ResyncChanged || !byTime || v.obj.GetDeletionTimestamp() != nil {
		return false
	}
	r.noteInputs(v)
	switch {
	case !v.record.Ready || v.record.Inputs != v.inputs:
		return false
	case r.fullResyncDue(v):
		return false
	case !r.Related.Complete(v.key):
		return false // what it refers to may have changed unseen
	case r.Children != nil && r.Watch.WatchDependentResources:
		return r.Children.Complete(r.Watch.GVK) // else a child may have changed unseen
	}
	return true
}

// fullResyncDue reports whether it is time for a run whatever has changed.
func (r *reconciler) fullResyncDue(v *visit) bool {
	full := r.Watch.FullResyncPeriod
	return full != nil && *full > 0 && r.Clock.Since(v.lastGood()) >= *full
}

// lastGood returns when the last good run ended, as far as is known.
func (v *visit) lastGood() time.Time {
	v.episode.mu.Lock()
	defer v.episode.mu.Unlock()
	if v.episode.good.IsZero() && v.record.Outcome.OK() {
		return v.record.Finished
	}
	return v.episode.good
}

// inputsDigest is a digest of all that a run is made from: the resource without what the API server and we write, and the
// fingerprint of the content.
func inputsDigest(obj *unstructured.Unstructured, content string) string {
	parts := maps.Clone(obj.Object)
	delete(parts, "status")
	annotations := map[string]string{}
	for key, value := range obj.GetAnnotations() {
		if !strings.HasPrefix(key, annotationPrefix) {
			annotations[key] = value
		}
	}
	parts["metadata"] = map[string]any{"labels": obj.GetLabels(), "annotations": annotations, "uid": obj.GetUID()}
	data, err := json.Marshal([]any{content, parts}) // keys come out sorted
	if err != nil {
		return "" // not reached: the object came as JSON
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}
