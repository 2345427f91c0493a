package controller

import "github.com/chartbook-operator/chartbook/runner/internal/observe"

// tellUnwatched records an event for each kind of children that cannot be watched, once for a resource: it says why
// what somebody does to them is not put right at once. The run is none the worse for it.
func (r *reconciler) tellUnwatched(v *visit) {
	if r.Children == nil || !r.Watch.WatchDependentResources {
		return
	}
	for _, what := range r.Children.Unwatched(r.Watch.GVK) {
		if v.episode.told.First(what) {
			r.event(v.obj, observe.EventDependentUnwatchable, what)
		}
	}
}
