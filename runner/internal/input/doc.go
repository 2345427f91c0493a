// Package input turns a custom resource into what a run gets: extra vars for a playbook or role, values for a chart.
package input
