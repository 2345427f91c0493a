package helm

import (
	"fmt"

	"helm.sh/helm/v3/pkg/release"
)

// unlock marks the newest revision as what it is: cut off. Nothing of the history is lost, and the next move goes
// on from there. An uninstall that was cut off is over; what it has left is adopted by the install that follows.
func (r *run) unlock(why string) error {
	last := r.store.history.last()
	rel, err := r.store.load(last.version)
	if err != nil {
		return err
	}
	status := release.StatusFailed
	if last.status == release.StatusUninstalling {
		status = release.StatusUninstalled
	}
	// Another operator may be about to do the same; only one of them is to go on.
	r.store.exact = true
	defer func() { r.store.exact = false }()
	rel.SetStatus(status, fmt.Sprintf("Interrupted: %s and its process is gone", why))
	if err := r.helm.Releases.Update(rel); err != nil {
		return fmt.Errorf("mark revision %d as %s: %w", last.version, status, err)
	}
	r.unlocked = last.version
	r.tell.notef("release %s: %s; going on from there", r.job.Owner.Name, why)
	return nil
}
