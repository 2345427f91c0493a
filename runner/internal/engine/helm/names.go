package helm

import (
	"errors"
	"fmt"
	"time"

	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// maxReleaseName is how long Helm lets a release name be, so that names made from it fit into labels.
const maxReleaseName = 53

// busyRetry is when to look again whether it is.
const busyRetry = 30 * time.Second

var errUnsettled = errors.New("too many moves")

// checkName refuses resources whose name cannot be that of a release.
func (r *run) checkName() *engine.Result {
	owner := r.job.Owner
	switch {
	case r.misplaced != nil:
		return refuse(engine.ReasonReleaseName, r.misplaced.Error())
	case len(owner.Name) > maxReleaseName:
		return refuse(engine.ReasonReleaseName, fmt.Sprintf(
			"the name %q has %d characters; it is the name of the Helm release too, which may have %d at most",
			owner.Name, len(owner.Name), maxReleaseName))
	}
	if err := chartutil.ValidateReleaseName(owner.Name); err != nil {
		return refuse(engine.ReasonReleaseName, fmt.Sprintf("the name %q cannot be that of a Helm release: %v", owner.Name, err))
	}
	return nil
}

// refuse is the result of what cannot be done until the resource or the chart changes.
func refuse(reason, message string) *engine.Result {
	return &engine.Result{Outcome: engine.Permanent, Reason: reason, Message: message}
}

// refuse is as the function refuse, and names the good revision that stands.
func (r *run) refuse(reason, message string) *engine.Result {
	result := refuse(reason, message)
	result.Release = r.standing()
	return result
}
