package helm

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"helm.sh/helm/v3/pkg/release"
)

// holding keeps up the claim of a run on the revision that it works on, so that no other operator takes the revision for
// one that was left behind.
type holding struct {
	meta metadata.ResourceInterface
	now  func() time.Time
	lost func() // called once, when another operator has taken the revision over

	mu   sync.Mutex
	name string // of the record that is claimed; empty for none
}

// mark claims the revision in a record that is about to be written, or gives it up.
func (h *holding) mark(secret *corev1.Secret) {
	h.mu.Lock()
	defer h.mu.Unlock()
	status := release.Status(secret.Labels["status"])
	if !(&record{status: status}).unfinished() {
		if h.name == secret.Name {
			h.name = ""
		}
		return
	}
	h.name = secret.Name
	secret.Annotations = h.claim().annotations()
}

func (h *holding) claim() claim {
	return claim{holder: self, at: h.now().UTC().Format(time.RFC3339Nano)}
}

// keep renews the claim until ctx is done.
func (h *holding) keep(ctx context.Context) {
	ticker := time.NewTicker(renewAfter)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			h.renew(ctx)
		}
	}
}

// renew says once more that the revision is being worked on. What goes wrong is left: the next renewal may do better, and
// the work itself will tell.
func (h *holding) renew(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.name == "" {
		return
	}
	before, err := h.meta.Get(ctx, h.name, metav1.GetOptions{})
	if err != nil {
		return
	}
	if claimOf(before.Annotations).holder != self {
		h.name = ""
		h.lost()
		return
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": before.ResourceVersion, "annotations": h.claim().annotations(),
	}})
	if err == nil {
		_, _ = h.meta.Patch(ctx, h.name, types.MergePatchType, patch, metav1.PatchOptions{})
	}
}
