// Package enginetest holds what tests of engines and of their callers share: a scripted engine and the suite that every engine passes.
//
// [Fake] stands in for an engine where the controller is under test. [Conformance] says, as tests, what
// [engine.Engine] promises; each engine calls it with a [Harness] that knows how to make its content.
package enginetest
