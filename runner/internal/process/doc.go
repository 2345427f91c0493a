// Package process runs child processes so that nothing of them is left: no process, no descriptor, no goroutine.
//
// Each child leads its own process group, gets a bounded time to end once it is told to, and dies with the
// operator. What the child itself has started outlives an operator that is killed, unless that is process 1 of its
// container; the next one ends it with [OS.EndLeftovers]. [OS] does that for real; callers take a [Runner], so that tests can put a fake in its place.
package process
