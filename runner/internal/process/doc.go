// Package process runs child processes so that nothing of them is left: no process, no descriptor, no goroutine.
//
// Each child leads its own process group, gets a bounded time to end once it is told to, and dies with the
// operator. [OS] does that for real; callers take a [Runner], so that tests can put a fake in its place.
package process
