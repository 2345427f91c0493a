package helm

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/release"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// otherHolder is an operator that may be alive for all that can be told from here.
const otherHolder = "pod-7_abc_other-machine.1_1_99"

// claimed writes a claim on a revision that is left in a status of work.
func (w *world) claimed(name string, version int, status release.Status, c claim) {
	w.t.Helper()
	w.setStatus(name, version, status)
	secret := w.record(name, version)
	secret.Annotations = c.annotations()
	if err := w.client.Update(w.t.Context(), secret); err != nil {
		w.t.Fatal(err)
	}
}

func TestAnotherLivingOperatorIsNotDisturbed(t *testing.T) {
	w := newWorld(t)
	job := w.job("one", map[string]any{"message": "first"})
	w.did(w.engine("plain"), job, engine.ActionInstall)
	w.claimed("one", 1, release.StatusPendingUpgrade, claim{otherHolder, "1"})

	e := w.engine("plain")
	clock := &handClock{now: time.Now()}
	e.cfg.Clock = clock
	result := w.run(e, job, engine.Waiting)
	if result.Reason != engine.ReasonReleaseBusy || !strings.Contains(result.Message, "pod-7") || len(result.Writes) != 0 {
		t.Errorf("reason %s, message %q, writes %+v", result.Reason, result.Message, result.Writes)
	}
	if result.RetryAfter <= 0 || result.RetryAfter > claimedFor {
		t.Errorf("looked at again after %s", result.RetryAfter)
	}
	w.run(e, finalize(job), engine.Waiting)
	clock.now = clock.now.Add(claimedFor - time.Second)
	w.claimed("one", 1, release.StatusPendingUpgrade, claim{otherHolder, "2"}) // it says that it lives
	w.run(e, job, engine.Waiting)
	clock.now = clock.now.Add(claimedFor - time.Second)
	w.run(e, job, engine.Waiting)
	clock.now = clock.now.Add(2 * time.Second)
	w.did(e, job, engine.ActionInstall)
	if diff := cmp.Diff([]string{"failed", "deployed"}, w.revisions("one")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestClaimsThatCountForNothing(t *testing.T) {
	w := newWorld(t)
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	tests := []struct {
		why    string
		holder string
		alone  bool
	}{
		{"that of a process of this machine that has ended", strings.Join([]string{host, "abc", machine(), strconv.Itoa(dead.Process.Pid), "1"}, "_"), false},
		{"that of a process whose id another one has now", strings.Join([]string{host, "abc", machine(), strconv.Itoa(os.Getpid()), "1"}, "_"), false},
		{"this process's own", self, false},
		{"any, where leader election lets only one work", otherHolder, true},
	}
	for i, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			w, name := w.in(t), "r"+strconv.Itoa(i)
			job := w.job(name, nil)
			w.did(w.engine("plain"), job, engine.ActionInstall)
			w.claimed(name, 1, release.StatusPendingInstall, claim{test.holder, "1"})
			w.did(w.engine("plain", func(c *Config) { c.Alone = test.alone }), job, engine.ActionInstall)
		})
	}
}

// hanging begins a run whose hook hangs, and returns once it does.
func (w *world) hanging(e *Engine) (job engine.Job, ended <-chan engine.Result) {
	w.t.Helper()
	job = w.job("one", hooks("post-install", "hang"))
	end := make(chan engine.Result, 1)
	go func() {
		result, _ := e.Run(w.t.Context(), job)
		end <- result
	}()
	w.waitForJob("one-post-install")
	return job, end
}

func TestWorkIsClaimedAndGivenUp(t *testing.T) {
	w := newWorld(t)
	e := w.engine("hooks")
	job, ended := w.hanging(e)
	held := claimOf(w.record("one", 1).Annotations)
	if held.holder != self || held.at == "" {
		t.Errorf("the revision is claimed by %q at %q, want %q", held.holder, held.at, self)
	}
	other := w.engine("hooks")
	if s, why := determine(facts{
		history: history{{version: 1, status: release.StatusPendingInstall, digest: "d", holder: claim{otherHolder, "1"}}},
		owner:   job.Owner, mine: "hooks", chart: "hooks", held: other.heldFor("x", claim{otherHolder, "1"}) > 0,
	}); s != busy {
		t.Errorf("another operator finds it %s: %s", s, why)
	}
	w.delete(jobs, w.namespace, "one-post-install")
	if result := <-ended; result.Outcome != engine.Changed {
		t.Fatalf("outcome %s: %s", result.Outcome, result.Message)
	}
	if left := claimOf(w.record("one", 1).Annotations); left != (claim{}) {
		t.Errorf("the good revision is still claimed: %+v", left)
	}
}

// An operator that was frozen, or cut off from the API server, must not go on where another one has taken over.
func TestLostClaimEndsTheRun(t *testing.T) {
	w := newWorld(t)
	e := w.engine("hooks")
	_, ended := w.hanging(e)
	secret := w.record("one", 1)
	secret.Annotations = claim{otherHolder, "1"}.annotations()
	if err := w.client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	select {
	case result := <-ended:
		if result.Outcome.OK() {
			t.Errorf("outcome %s", result.Outcome)
		}
	case <-time.After(4 * renewAfter):
		t.Fatal("the run goes on")
	}
}

// handClock is set by hand.
type handClock struct{ now time.Time }

func (c *handClock) Now() time.Time                  { return c.now }
func (c *handClock) Since(t time.Time) time.Duration { return c.now.Sub(t) }
