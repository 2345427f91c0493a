package runner

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/chartbook-operator/chartbook/runner/internal/controller"
)

// advisedLister says what to do about answers that name no remedy: Unauthorized is all that the API server tells.
type advisedLister struct{ controller.KindLister }

// ServerResourcesForGroupVersionWithContext implements [controller.KindLister].
func (l advisedLister) ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error) {
	list, err := l.KindLister.ServerResourcesForGroupVersionWithContext(ctx, groupVersion)
	if apierrors.IsUnauthorized(err) {
		err = fmt.Errorf("%w: it does not take the operator's credentials; renew the token or certificate in the kubeconfig, or check the pod's service account", err)
	}
	return list, err
}
