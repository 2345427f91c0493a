package enginetest

import (
	"slices"
	"testing"
)

// check is one promise of engine.Engine.
type check struct {
	name     string
	scenario Scenario // skipped where this is unsupported
	run      func(s *suite)
}

var checks = []check{
	{"is ready", Apply, checkReady},
	{"changes, then finds nothing to do", Apply, checkApply},
	{"takes large inputs", Apply, checkLargeInputs},
	{"keeps concurrent owners apart", Apply, checkConcurrent},
	{"does nothing once cancelled", Apply, checkCancelledBefore},
	{"needs no progress function", Apply, checkWithoutProgress},
	{"says what failed", Fail, checkFail},
	{"recovers from a failure", Fail, checkRecover},
	{"ends at its timeout", Hang, checkTimeout},
	{"ends when cancelled", Hang, checkCancel},
	{"takes a context's deadline for a cancellation", Hang, checkContextDeadline},
	{"can run again after a cancellation", Hang, checkAfterCancel},
	{"finalizes twice", Finalize, checkFinalize},
	{"finalizes what was never made", Finalize, checkFinalizeNothing},
	{"refuses broken content", Broken, checkBroken},
	{"waits", Wait, checkWait},
	{"keeps secrets", Leak, checkSecrets},
}

// Conformance tests that engines of newHarness keep the promises of engine.Engine. newHarness is called once for
// each subtest, with that subtest.
func Conformance(t *testing.T, newHarness func(t *testing.T) Harness) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			h := newHarness(t).withDefaults()
			if reason, missing := h.Unsupported[c.scenario]; missing {
				if slices.Contains(required, c.scenario) {
					t.Fatalf("scenario %s is required of every engine, yet declared unsupported: %s", c.scenario, reason)
				}
				t.Skipf("scenario %s is unsupported: %s", c.scenario, reason)
			}
			c.run(newSuite(t, h))
		})
	}
}
