package helm

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/release"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Labels on release Secrets about upgrades that failed.
const (
	// attemptsLabel counts, on a failed revision, the upgrades to its inputs that have failed in a row.
	attemptsLabel = "chartbook.dev/attempts"
	// givenUpLabel is, on a revision that a rollback made, the digest of the inputs that were given up.
	givenUpLabel = "chartbook.dev/given-up"
)

// DefaultRetries is how often a failed upgrade is tried again.
const DefaultRetries = 4

// Upgrades fail for reasons that seldom pass within seconds, and each try may run hooks: five of them take twenty minutes.
const (
	firstRetry  = 30 * time.Second
	retryFactor = 3
)

// RetryAfter is how long to wait after the given number of failed upgrades in a row: 30 s, 90 s, 4.5 min, 13.5 min.
func RetryAfter(failures int) time.Duration {
	wait := firstRetry
	for range min(failures-1, 6) {
		wait *= retryFactor
	}
	return wait
}

// spent reports whether so many failed upgrades are all there may be.
func (c Config) spent(attempts int) bool { return attempts > c.Retries }

// attemptsBefore returns how many upgrades to today's inputs have failed since the last good revision. One that was cut
// off is no failure, and a request begins anew.
func (r *run) attemptsBefore() int {
	if r.job.Trigger == engine.TriggerRequest {
		return 0
	}
	for _, failed := range r.store.history.failures() {
		if failed.digest == r.digest {
			return failed.attempts
		}
	}
	return 0
}

// upgradeLabels are labels for the record of an upgrade. Helm takes the labels of the revision before over, and "null" for
// leaving one out.
func (r *run) upgradeLabels(attempts int) map[string]string {
	labels := r.labels()
	labels[givenUpLabel], labels[attemptsLabel] = "null", "null"
	if attempts > 0 {
		labels[attemptsLabel] = strconv.Itoa(attempts)
	}
	return labels
}

// countAttempts has the failure of the run's revision counted when it is written down. What a missing right or the end of
// the run stopped does not count: neither says anything about chart and values.
func (r *run) countAttempts(before int) {
	r.store.stamp = func(rel *release.Release) {
		if rel.Labels[revisionLabel] != strconv.Itoa(rel.Version) {
			return
		}
		if rel.Info.Status != release.StatusFailed {
			if rel.Info.Status == release.StatusDeployed {
				delete(rel.Labels, attemptsLabel)
			}
			return
		}
		attempts := before
		if len(r.recorder.Denials()) == 0 && r.ctx.Err() == nil { // a namespace that is being deleted is a denial, too
			attempts++
		}
		r.attempts = attempts
		rel.Labels[attemptsLabel] = strconv.Itoa(attempts)
	}
}

// upgradeFailed is the result of an upgrade that Helm gave up.
func (r *run) upgradeFailed(rel *release.Release, err error) engine.Result {
	result := r.actionFailed(engine.ActionUpgrade, rel, err)
	if result.Outcome != engine.Transient || result.Reason != engine.ReasonUpgradeFailed || r.ctx.Err() != nil || len(r.recorder.Denials()) > 0 {
		return result
	}
	if !r.e.cfg.spent(r.attempts) {
		if r.e.cfg.RetryAfter != nil {
			result.RetryAfter = r.e.cfg.RetryAfter(r.attempts)
		}
		return result
	}
	if r.e.cfg.Rollback && r.store.history.deployed() != nil {
		return r.rollback(result.Message)
	}
	return r.gaveUp(result.Message)
}

// gaveUp is the result of a release whose upgrade is not tried again.
func (r *run) gaveUp(why string) engine.Result {
	return engine.Result{
		Outcome: engine.Permanent, Reason: engine.ReasonUpgradeFailed, Release: r.standing(),
		Message: fmt.Sprintf("%s (given up after %d tries; it is tried again when the resource or the chart changes, or when somebody asks)",
			why, max(r.attempts, 1)),
	}
}

// giveUp says once more what has failed in an earlier run, or goes back where that is still to be done.
func (r *run) giveUp() engine.Result {
	last := r.store.history.last()
	r.attempts = last.attempts
	why, err := r.whyFailed(last)
	if err != nil {
		return r.apiFailed("look at the release", err)
	}
	wasTried := last.givenUp != "" && last.version != r.unlocked
	if r.e.cfg.Rollback && r.store.history.deployed() != nil && !wasTried {
		defer r.atWork()()
		return r.rollback(why)
	}
	return r.gaveUp(why)
}

// whyFailed returns what a failed revision says about that, in the words of the run that made it.
func (r *run) whyFailed(failed *record) (string, error) {
	rel, err := r.store.load(failed.version)
	if err != nil {
		return "", err
	}
	r.redact.addManifest(rel.Manifest)
	why := strings.TrimPrefix(rel.Info.Description, fmt.Sprintf("Upgrade %q failed: ", rel.Name))
	return withAdvice(why), nil
}

// whyGivenUp is whyFailed for a release that was rolled back since. Nothing is known where the history is too short.
func (r *run) whyGivenUp() (string, error) {
	for i := len(r.store.history) - 1; i >= 0; i-- {
		old := &r.store.history[i]
		if old.status == release.StatusFailed && old.digest == r.digest && old.givenUp == "" {
			return r.whyFailed(old)
		}
	}
	return "the upgrade has failed", nil
}

// stay looks after a release that was rolled back, and says what has failed.
func (r *run) stay() engine.Result {
	last := r.store.history.last()
	r.attempts = last.attempts
	rel, err := r.store.load(last.version)
	if err != nil {
		return r.apiFailed("look at the release", err)
	}
	why, err := r.whyGivenUp()
	if err != nil {
		return r.apiFailed("look at the release", err)
	}
	result := r.rolledBack(rel, why)
	if !r.job.VerifyChildren {
		return result
	}
	mended := r.mend(rel)
	r.e.good.Remove(r.job.Owner.UID) // it was good, and not for today's inputs
	if mended.Outcome == engine.Transient {
		return mended
	}
	return result
}
