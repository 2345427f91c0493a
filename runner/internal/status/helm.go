package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// The conditions of helm-operator.
const (
	typeInitialized    = "Initialized"
	typeDeployed       = "Deployed"
	typeReleaseFailed  = "ReleaseFailed"
	typeIrreconcilable = "Irreconcilable"
)

// typeDrifted is a condition of ours. It is there while differences are only looked for.
const typeDrifted = "Drifted"

// maxDrift bounds how many objects its message names.
const maxDrift = 10

// messageUninstalling is what helm-operator says while it waits for a release's objects to go.
const messageUninstalling = "Waiting until all resources are deleted."

// maxManifest bounds a manifest in status. A status over about 1.5 MiB would not be stored at all.
const maxManifest = 1 << 20

// helm writes the conditions of helm-operator and status.deployedRelease.
func (d *draft) helm() {
	d.hideManifest()
	switch d.in.Phase {
	case Running:
		d.initialized()
	case Done:
		d.helmDone()
	case Errored, Refused:
		d.helmFailed(engine.Result{}, d.cause())
	case Pending, Paused: // the old tool knew neither
	}
}

func (d *draft) initialized() {
	if !d.in.Deleting {
		d.after.set(condition{kind: typeInitialized, status: isTrue, sparse: true})
	}
}

func (d *draft) helmDone() {
	result := d.in.Result
	d.initialized()
	switch {
	case d.in.Deleting && (result.Outcome.OK() || result.Outcome == engine.Waiting):
		d.uninstalled(result)
	case result.Outcome.OK(), result.Outcome == engine.Waiting:
		d.after.remove(typeReleaseFailed)
		d.after.remove(typeIrreconcilable)
		d.deployed(result.Release)
		d.drifted(result.Drift)
	case result.Outcome == engine.Cancelled:
	default:
		d.helmFailed(result, d.cause())
	}
}

func (d *draft) uninstalled(result engine.Result) {
	d.after.remove(typeReleaseFailed)
	d.after.remove(typeIrreconcilable)
	gone := condition{kind: typeDeployed, status: isFalse, reason: reasonUninstallSuccessful, sparse: true}
	if result.Outcome == engine.Waiting {
		gone.message = messageUninstalling
	} else {
		delete(d.next, "deployedRelease")
	}
	d.after.set(gone)
}

func (d *draft) deployed(release *engine.Release) {
	if release == nil {
		return
	}
	reason := reasonUpgradeSuccessful
	if release.Version == 1 {
		reason = reasonInstallSuccessful
	}
	notes := d.message(release.Notes)
	if notes == "" && unchanged(release) {
		notes = field(d.before.get(typeDeployed), "message")
	}
	d.after.set(condition{kind: typeDeployed, status: isTrue, reason: reason, message: notes, sparse: true})
	d.deployedRelease(release)
}

// drifted says what differs from the release; nil says that nobody looks for that.
func (d *draft) drifted(differences []string) {
	c := condition{kind: typeDrifted, status: isFalse, reason: reasonNoDrift, message: messageNoDrift, generation: d.in.Generation}
	switch {
	case differences == nil:
		d.after.remove(typeDrifted)
		return
	case len(differences) > maxDrift:
		differences = append(slices.Clone(differences[:maxDrift]), fmt.Sprintf("and %d more", len(differences)-maxDrift))
		fallthrough
	case len(differences) > 0:
		c.status, c.reason, c.message = isTrue, reasonDriftDetected, d.message(strings.Join(differences, "; "))
	}
	d.after.set(c)
}

// messageNoDrift is said when nothing differs.
const messageNoDrift = "The objects are as the release has them"

// unchanged says that the release was not rendered anew, so that the engine may not have looked at all of it.
func unchanged(release *engine.Release) bool {
	return release.Action == engine.ActionNone || release.Action == engine.ActionRepair
}

func (d *draft) deployedRelease(release *engine.Release) {
	was := object(d.next["deployedRelease"])
	is := maps.Clone(was)
	if is == nil {
		is = map[string]any{}
	}
	is["name"] = release.Name
	is["version"] = int64(release.Version)
	if release.Digest != "" || !unchanged(release) {
		put(is, "digest", release.Digest, release.Digest == "")
	}
	if d.in.Manifest && (release.Manifest != "" || !unchanged(release)) {
		put(is, "manifest", release.Manifest, release.Manifest == "" || len(release.Manifest) > maxManifest)
	}
	d.next["deployedRelease"] = is
}

// helmFailed says what failed: a change of the release, or the look at it.
func (d *draft) helmFailed(result engine.Result, message string) {
	kind, reason := typeIrreconcilable, engine.ReasonReconcileFailed
	if changed := failedChange(result); changed != "" {
		kind, reason = typeReleaseFailed, changed
	}
	d.after.set(condition{kind: kind, status: isTrue, reason: reason, message: d.message(message), sparse: true})
	for _, other := range []string{typeReleaseFailed, typeIrreconcilable} {
		if other != kind {
			d.after.remove(other)
		}
	}
}

// failedChange returns helm-operator's reason for a release that could not be changed; empty if it was none of that.
func failedChange(result engine.Result) string {
	switch result.Reason {
	case engine.ReasonInstallFailed, engine.ReasonUpgradeFailed, engine.ReasonUninstallFailed:
		return result.Reason
	case engine.ReasonInvalidChart, engine.ReasonInvalidValues, engine.ReasonReleaseName, engine.ReasonReleaseTaken,
		engine.ReasonStoredVersion, engine.ReasonChartUnavailable:
		return ""
	}
	if result.Release == nil {
		return ""
	}
	switch result.Release.Action {
	case engine.ActionInstall:
		return engine.ReasonInstallFailed
	case engine.ActionUpgrade:
		return engine.ReasonUpgradeFailed
	case engine.ActionUninstall:
		return engine.ReasonUninstallFailed
	default:
		return ""
	}
}

// hideManifest takes away the manifest that helm-operator has put into status, secrets and all.
func (d *draft) hideManifest() {
	release := object(d.next["deployedRelease"])
	if _, there := release["manifest"]; there && !d.in.Manifest {
		delete(release, "manifest")
	}
}
