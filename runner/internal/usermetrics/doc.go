// Package usermetrics takes in the metrics that playbooks report about themselves and shows them beside the operator's own.
//
// A [Store] holds the metrics and is a Prometheus collector; an [Endpoint] takes reports by HTTP, in the form that Operator
// SDK's ansible-operator took them in. What comes in at the URL of a run is labelled with the run's resource and dropped
// when the resource is gone; what comes in at the plain URL, as old callers use it, has no labels.
//
// A report can do no harm to the page of metrics: a name that is not valid, or that belongs to a metric of someone else, is
// refused, and so is all that would go beyond the limits.
package usermetrics
