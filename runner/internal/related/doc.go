// Package related reads the objects that resources refer to and wakes the resources when these objects change.
//
// One [Registry] serves the whole process. A [Watch] of it belongs to one kind of resource: its Resolve finds out which
// objects a resource refers to (names.go), reads them from the API server by name (read.go) and makes variables of
// them (values.go). From then on the registry follows just these objects (registry.go, stream.go), each once however
// many resources refer to it, and keeps nothing of them but a digest of what counts (digest.go).
package related
