// Package plan decides, without doing anything, whether a resource is run now, why, and when it is looked at next.
//
// [Decide] is an ordered list of small rules; the first that has an opinion decides. The list is the documentation of
// when something runs: see [Rules].
package plan
