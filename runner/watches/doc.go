// Package watches reads watches.yaml: which kinds are watched, and which playbook, role or chart serves each.
package watches
