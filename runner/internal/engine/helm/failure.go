package helm

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/go-multierror"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// maxFailures bounds Result.Failures.
const maxFailures = 50

// reasons of actions that failed.
var reasons = map[engine.Action]string{
	engine.ActionInstall:   engine.ReasonInstallFailed,
	engine.ActionUpgrade:   engine.ReasonUpgradeFailed,
	engine.ActionUninstall: engine.ReasonUninstallFailed,
}

// actionFailed is the result of an action that Helm gave up. rel is the revision that has failed, if there is one.
func (r *run) actionFailed(did engine.Action, rel *release.Release, err error) engine.Result {
	if rel != nil {
		r.redact.addManifest(rel.Manifest)
	}
	if did != engine.ActionUninstall && isRenderError(err) {
		return r.renderFailed(err)
	}
	if errors.Is(err, driver.ErrReleaseExists) { // somebody was faster
		return r.busy("another revision was made at the same time")
	}
	result := engine.Result{
		Outcome: engine.Transient, Reason: reasons[did], Message: explain(err),
		Failures: r.failures(err), Release: r.standing(),
	}
	if errors.Is(err, errTooLarge) {
		result.Outcome = engine.Permanent
	}
	r.forget()
	return result
}

// renderFailed is the result of templates that gave no manifest. Where they look at the cluster, or the cluster
// could not be asked, a later try may do better.
func (r *run) renderFailed(err error) engine.Result {
	if !isRenderError(err) {
		return r.apiFailed("render the chart", err)
	}
	result := engine.Result{
		Outcome: engine.Permanent, Reason: engine.ReasonInvalidChart, Message: err.Error(), Release: r.standing(),
	}
	if r.content.uses.lookup {
		result.Outcome = engine.Transient
	}
	return result
}

// apiFailed is the result of a request that failed outside of an action.
func (r *run) apiFailed(doing string, err error) engine.Result {
	reason := engine.ReasonReconcileFailed
	if r.job.Mode == engine.Finalize {
		reason = engine.ReasonUninstallFailed
	}
	return engine.Result{
		Outcome: engine.Transient, Reason: reason, Message: fmt.Sprintf("%s: %v", doing, err),
		Failures: r.failures(err),
	}
}

// standing describes the good revision that stands although the run failed, or nil.
func (r *run) standing() *engine.Release {
	if r.store == nil {
		return nil
	}
	good := r.store.history.deployed()
	if good == nil {
		return nil
	}
	return &engine.Release{
		Name: r.job.Owner.Name, Version: good.version, Digest: string(good.digest), Action: engine.ActionNone,
	}
}

// failures lists the objects that an error is about.
func (r *run) failures(err error) []engine.Failure {
	list := []error{err}
	if several, ok := errors.AsType[*multierror.Error](err); ok {
		list = several.Errors
	}
	var out []engine.Failure
	for _, err := range list {
		var status apierrors.APIStatus
		if !errors.As(err, &status) || status.Status().Details == nil || len(out) == maxFailures {
			continue
		}
		details := status.Status().Details
		if details.Name != "" {
			out = append(out, engine.Failure{Name: details.Kind + "/" + details.Name, Message: r.redact.clean(explain(err))})
		}
	}
	return out
}

// renderErrors are how Helm's messages begin when templates do not parse or run, or give no YAML. Helm has no error
// types for that; a test with a real chart for each keeps the list true.
var renderErrors = []string{
	"parse error at (", "parse error in (", "execution error at (", "execution error in (", "template: ",
	"rendering template failed: ", "YAML parse error on ", "unable to parse YAML", "chart requires kubeVersion: ",
}

func isRenderError(err error) bool {
	text := err.Error()
	for _, beginning := range renderErrors {
		if strings.HasPrefix(text, beginning) {
			return true
		}
	}
	return false
}

// finish completes a result: how the run was ended, what it asked of the API server, and nothing that is secret.
func (r *run) finish(outer context.Context, result engine.Result) engine.Result {
	result = r.ended(outer, result)
	result.APIRequests, result.Writes, result.Denials = r.recorder.Requests(), r.recorder.Writes(), r.recorder.Denials()
	result = terminating(result)
	if result.Outcome == engine.Transient || result.Outcome == engine.Permanent {
		result = forbidden(result)
	}
	result.Message = r.redact.clean(result.Message)
	failed := !result.Outcome.OK() && result.Outcome != engine.Waiting
	if failed && r.e.cfg.LogSink != nil {
		lines := r.log.last()
		for i := range lines {
			lines[i] = r.redact.masked(lines[i])
		}
		r.e.cfg.LogSink(r.job, lines)
	}
	return result
}

// ended turns the failure of a run whose context is over into what it is.
func (r *run) ended(outer context.Context, result engine.Result) engine.Result {
	if result.Outcome.OK() || result.Outcome == engine.Waiting || r.ctx.Err() == nil {
		return result
	}
	message := result.Message
	if outer.Err() != nil {
		result.Outcome, result.Reason, result.Message = engine.Cancelled, engine.ReasonCancelled, "the run was cancelled"
	} else {
		result.Outcome, result.Reason = engine.TimedOut, engine.ReasonDeadlineExceeded
		result.Message = fmt.Sprintf("the run did not end within its timeout of %s", r.job.Timeout)
	}
	if at := r.tell.current(); at != "" {
		result.Message += " while it was at " + at
	} else if message != "" {
		result.Message += ": " + message
	}
	return result
}

// forbidden gives a failure the reason that explains it, if that is a missing right.
func forbidden(result engine.Result) engine.Result {
	for _, denial := range result.Denials {
		// A refusal that Helm found a way around is not why the run failed.
		if !strings.Contains(result.Message, fmt.Sprintf("cannot %s resource %q", denial.Verb, denial.Resource)) {
			continue
		}
		resource := denial.Resource
		if denial.Group != "" {
			resource += "." + denial.Group
		}
		result.Outcome, result.Reason = engine.Transient, engine.ReasonForbidden
		result.Message = fmt.Sprintf("may not %s %s: %s", denial.Verb, resource, result.Message)
		break
	}
	return result
}
