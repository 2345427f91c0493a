// Package ocichart fetches charts from OCI registries by digest and keeps them in a directory.
//
// A digest is that of the manifest, which has the digest of the chart's archive. Both are kept and checked against each
// other at every start of the operator, so that a directory that was filled beforehand, like in an image for a site
// without a registry, is as good as the registry, and one that somebody has tampered with is not used.
package ocichart
