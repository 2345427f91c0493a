// Package watches reads watches.yaml: which kinds are watched, and which playbook, role or chart serves each.
//
// [Load] and [Decode] report every problem of a file at once, each with its line and column. They read the files of
// both tools that Chartbook replaces; docs/watches.md is the reference of the format, and [Keys] lists its keys.
package watches
