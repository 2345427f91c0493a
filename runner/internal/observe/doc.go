// Package observe holds the closed lists of what the operator says about itself: events, metrics and log lines.
//
// It decides what is said and in which words; the controller says it. Events are made of changes of conditions, so
// that what stays as it is stays silent. No list has names of resources in it, apart from the one metric that the old
// tools had with them.
package observe
