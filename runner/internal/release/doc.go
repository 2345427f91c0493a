// Package release takes finalizers off resources, so that they can go without the operator that put them on.
package release
