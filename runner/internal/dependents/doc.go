// Package dependents watches the objects that runs made and wakes their owners when somebody changes them.
//
// One [Registry] serves the whole process. A kind is watched once, from the first time a run makes or meets an
// object of it, however many primary kinds have children of that kind, until there has been no child of it for a
// while. Of each child only a [record] is kept: who it is, whose it is and a digest of what was applied to it; of
// objects that belong to nobody here, nothing.
//
// What counts as a change is told in digest.go, how a run's own writes are left out in runs.go, when a watch ends in
// idle.go, and how the children of an earlier process are found in find.go.
package dependents
