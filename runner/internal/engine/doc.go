// Package engine is the contract between control and execution: a Job goes in, a Result comes out.
//
// The controller decides that something has to run and builds a [Job]; an [Engine] carries it out and says
// what happened in a [Result]. Neither side sees the other's world: an engine never gets a client that
// writes the resource's status, and the controller never sees the path of a playbook or chart.
//
// An error from Run means that the engine could not run at all (its program is missing, the disk is full); a
// play that failed or a release that could not be installed is a Result with a failed Outcome.
package engine
