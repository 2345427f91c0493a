package release

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxConflicts bounds how often a resource is read again because somebody else was faster.
const maxConflicts = 5

// Release takes the finalizers off a resource. Those of others stay, whoever writes at the same time: the patch names
// the version it was made for. A resource that is gone is released.
func Release(ctx context.Context, h Held) error {
	for attempt := 0; len(h.On) > 0; attempt++ {
		err := h.patch(ctx)
		switch {
		case err == nil, apierrors.IsNotFound(err):
			return nil
		case !apierrors.IsConflict(err) || attempt == maxConflicts:
			return fmt.Errorf("take finalizers off %s %s: %w", h.GVK.Kind, h.Name, err)
		}
		obj, err := h.resource.Get(ctx, h.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || (err == nil && obj.UID != h.UID) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s %s again: %w", h.GVK.Kind, h.Name, err)
		}
		h.read(obj)
	}
	return nil
}

func (h *Held) patch(ctx context.Context) error {
	others := h.Others
	if others == nil {
		others = []string{}
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": h.UID, "resourceVersion": h.version, "finalizers": others,
	}})
	if err != nil {
		return fmt.Errorf("make a patch: %w", err)
	}
	_, err = h.resource.Patch(ctx, h.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "chartbook"})
	return err
}
