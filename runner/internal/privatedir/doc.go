// Package privatedir takes a directory that nobody else can read for one process alone.
package privatedir
