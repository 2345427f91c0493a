package helm

import (
	"fmt"
	"time"

	"helm.sh/helm/v3/pkg/release"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// state is how a release stands to what the resource asks for.
type state string

const (
	absent        state = "absent"         // there is none, or it was uninstalled
	unchanged     state = "unchanged"      // the last revision is good and was made from the same inputs
	unowned       state = "unowned"        // as unchanged, but its record does not name the resource as owner
	outOfSync     state = "out of sync"    // the last revision was made from other inputs
	unproven      state = "unproven"       // good, but whether from the same inputs can be told by comparing only
	interrupted   state = "interrupted"    // whoever worked on it is gone
	busy          state = "busy"           // someone else may be working on it
	failedInstall state = "failed install" // it never was good
	failedUpgrade state = "failed upgrade" // it was good before
	givenUp       state = "given up"       // as failed upgrade, and it is not tried again
	rolledBack    state = "rolled back"    // given up, and back at what was good before
	foreign       state = "foreign"        // it is not this resource's
)

// busyFor is how long an unfinished action of a tool that leaves no claim is left alone: Helm's own default timeout.
const busyFor = 5 * time.Minute

// facts are what the state follows from.
type facts struct {
	history history
	chart   string // name of the newest revision's chart; empty if unknown
	want    digest
	mine    string // name of the resource's chart
	owner   engine.Owner
	now     time.Time
	alone   bool // no other operator can be at work
	retries int  // how often a failed upgrade is tried again
	asked   bool // somebody asks for a run
	held    bool // another operator claims the newest revision and lives, as far as is known
}

// determine returns the state and, in words for users, why.
func determine(f facts) (state, string) {
	last := f.history.last()
	if last == nil {
		return absent, "there is no release of this name"
	}
	if why := f.foreign(last); why != "" {
		return foreign, why
	}
	if last.unfinished() {
		return f.unfinished(last)
	}
	switch last.status {
	case release.StatusUninstalled:
		return absent, "the release was uninstalled and its history kept"
	case release.StatusDeployed:
		return f.deployed(last)
	case release.StatusSuperseded:
		return outOfSync, "the newest revision is superseded by one that is gone"
	default: // failed, or a status that nobody knows
		if !f.asked && last.digest == f.want && last.attempts > f.retries {
			return givenUp, fmt.Sprintf("%d upgrades to the same inputs have failed", last.attempts)
		}
		if f.history.everDeployed() {
			return failedUpgrade, fmt.Sprintf("revision %d has failed", last.version)
		}
		return failedInstall, fmt.Sprintf("revision %d has failed and there is no good one", last.version)
	}
}

// foreign says whose the release is, or nothing if it may be worked on.
func (f facts) foreign(last *record) string {
	owner := last.controller()
	switch {
	case owner == nil && f.chart != f.mine:
		return fmt.Sprintf("it was made from chart %q, not from %q", f.chart, f.mine)
	case owner == nil || owner.UID == f.owner.UID:
		return ""
	}
	kind := groupKind(engine.Owner{APIVersion: owner.APIVersion, Kind: owner.Kind})
	sameSpace := last.remote == nil || last.remote.Namespace == f.owner.Namespace
	if kind == groupKind(f.owner) && owner.Name == f.owner.Name && sameSpace {
		return "" // of an earlier resource of the same name, as after a restore from a backup
	}
	return fmt.Sprintf("it belongs to %s %q", kind, owner.Name)
}

// unfinished tells work that was cut off from work that goes on. The process's own is never under way here, since no two
// runs of one resource happen at a time.
func (f facts) unfinished(last *record) (state, string) {
	age := f.now.Sub(last.modified)
	someone := last.controller() == nil || !f.alone
	switch {
	case f.held:
		return busy, fmt.Sprintf("revision %d is %s, and %s is at work on it", last.version, last.status, last.holder.who())
	case last.digest == "" && someone && age < busyFor:
		return busy, fmt.Sprintf("revision %d is %s since %s, not by this operator", last.version, last.status, age.Round(time.Second))
	}
	return interrupted, fmt.Sprintf("revision %d was left %s", last.version, last.status)
}

func (f facts) deployed(last *record) (state, string) {
	owner := last.controller()
	switch {
	case last.givenUp == f.want && f.want != "":
		if f.asked {
			return outOfSync, "somebody asks for another try"
		}
		return rolledBack, fmt.Sprintf("revision %d was rolled back to", last.version)
	case last.digest == "":
		return unproven, fmt.Sprintf("revision %d was made by another tool", last.version)
	case last.digest == f.want && owner != nil && owner.UID == f.owner.UID:
		return unchanged, ""
	case last.digest == f.want:
		return unowned, fmt.Sprintf("revision %d does not name its owner", last.version)
	case last.digest.onlyCapabilities(f.want):
		return unproven, "the cluster's capabilities have changed"
	}
	return outOfSync, fmt.Sprintf("chart or values have changed since revision %d", last.version)
}
