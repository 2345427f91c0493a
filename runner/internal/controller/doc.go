// Package controller watches one kind and carries its resources through plan, input, engine and status.
//
// It has the same two halves as every controller here: wire.go says what wakes it, reconcile.go what it then does,
// as a list of named steps; finalize.go holds those of a resource that is going away.
package controller
