package runner

import (
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine/helm"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// upgradeRetries is how often a failed upgrade is tried again, in the engine's words: as upgrade.remediation says, else
// retry.limit, else the default.
func upgradeRetries(w watches.Watch) int {
	retries := w.Upgrade.Remediation.Retries
	if retries == nil {
		retries = w.Retry.Limit
	}
	switch {
	case retries == nil:
		return watches.DefaultUpgradeRetries
	case *retries == 0:
		return -1
	}
	return *retries
}

// upgradeRetryAfter is the wait after a failed upgrade; nil where the watch says by retry how long to wait.
func upgradeRetryAfter(w watches.Watch) func(int) time.Duration {
	if w.Retry.Backoff != watches.DefaultBackoff || w.Retry.MaxBackoff != watches.DefaultMaxBackoff {
		return nil
	}
	return helm.RetryAfter
}

// driftOf is what the engine is to do about drift.
func driftOf(w watches.Watch) helm.Drift {
	switch w.Drift {
	case watches.DriftDetect:
		return helm.DriftDetect
	case watches.DriftOff:
		return helm.DriftOff
	default:
		return helm.DriftCorrect
	}
}
