package controller

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

func TestNotesNameTheMostUrgentCause(t *testing.T) {
	key := types.NamespacedName{Namespace: "ns", Name: "thing"}
	n := newNotes()
	now := time.Unix(1000, 0)
	n.plan(key, engine.TriggerPeriod, now)
	n.add(key, engine.TriggerDependent)
	n.add(key, engine.TriggerSpec)
	n.add(key, engine.TriggerInitial)
	if got := n.take(key, now.Add(-time.Second)).trigger; got != engine.TriggerSpec {
		t.Errorf("the cause is %q, want the most urgent of those noted", got)
	}
	if got := n.take(key, now.Add(-time.Second)).trigger; got != "" {
		t.Errorf("the cause is %q after all were taken, and before what was planned is due", got)
	}
	if got := n.next(key, now.Add(-time.Second)); got != time.Second {
		t.Errorf("what was planned comes in %s, want a second", got)
	}
	if got := n.take(key, now).trigger; got != engine.TriggerPeriod {
		t.Errorf("the cause is %q, want what was planned", got)
	}
	if got := n.next(key, now); got != 0 {
		t.Errorf("what was planned comes again, in %s", got)
	}
	n.plan(key, engine.TriggerPeriod, now.Add(time.Hour))
	n.schedule(key, tick{"nightly", now.Add(time.Minute)})
	if got := n.next(key, now); got != time.Minute {
		t.Errorf("it comes back in %s, want at the time of the schedule", got)
	}
	if got := n.take(key, now.Add(time.Minute)); got.trigger != engine.TriggerSchedule || got.due.schedule != "nightly" {
		t.Errorf("the cause is %v, want the schedule", got)
	}
	if got := n.next(key, now); got != time.Hour {
		t.Errorf("it comes back in %s, want when the period is over", got)
	}
	n.add(key, engine.TriggerSpec)
	n.schedule(key, tick{"nightly", now})
	n.forget(key)
	if len(n.waiting)+len(n.planned)+len(n.ticks) != 0 {
		t.Error("a resource that is gone is remembered")
	}
}

func TestPrioritiesFollowUrgency(t *testing.T) {
	order := []engine.Trigger{
		engine.TriggerDeletion, engine.TriggerSpec, engine.TriggerMetadata, engine.TriggerRequest, engine.TriggerDependent,
		engine.TriggerSchedule, engine.TriggerRetry, engine.TriggerPeriod, engine.TriggerInitial,
	}
	for i := range order[1:] {
		if priorityOf(order[i]) <= priorityOf(order[i+1]) {
			t.Errorf("%s does not come before %s", order[i], order[i+1])
		}
	}
}

func TestDenialsAreToldOnce(t *testing.T) {
	create := engine.Denial{Verb: "create", Resource: "configmaps", Namespace: "ns"}
	list := engine.Denial{Verb: "list", Group: "apps", Resource: "deployments"}
	l := &denialLog{}
	if got := l.fresh([]engine.Denial{create, create, list}); len(got) != 2 {
		t.Errorf("%d of two missing rights are told", len(got))
	}
	if got := l.fresh([]engine.Denial{list, create}); len(got) != 0 {
		t.Errorf("told again: %v", got)
	}
	for denial, want := range map[engine.Denial]string{
		create: "the operator may not create configmaps (API group core) in namespace ns",
		list:   "the operator may not list deployments (API group apps) in the whole cluster",
	} {
		if got := missingRule(denial); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
