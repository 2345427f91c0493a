// Package helm runs charts: it brings the Helm release of a resource to what the resource asks for.
//
// A run looks at the release (state.go), decides (plan.go) and acts: install.go, upgrade.go, repair.go,
// uninstall.go, unlock.go. It decides from inputs and not from rendered text: when the digest of chart, values and
// the capabilities that the chart refers to is that of the last good revision, nothing is loaded, rendered or asked,
// whatever the templates would say this time.
//
// Stock helm sees and manages the releases, and releases made by it, by the Operator SDK or by
// helm-operator-plugins are taken over: what marks an object's owner is added to objects on their way to the API
// server (owner.go) and is never part of the stored manifest.
package helm
