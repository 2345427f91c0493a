package main

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/cmd/internal/table"
)

// verdict is how a sample is doing.
type verdict struct {
	ready   string // status of the condition Ready, empty if nothing is known
	reason  string // the word for what is going on
	message string
	current bool // ready is about the spec as it is now
	stalled bool // nothing more happens before somebody acts
}

// verdictOf judges an object, nil for one that is not there, with its last run, which may be the zero one.
func verdictOf(obj *unstructured.Unstructured, last run) verdict {
	if obj == nil {
		return verdict{reason: "Gone"}
	}
	status, annotated := statusOf(obj)
	ready := conditionOf(status, "Ready")
	// Generations do not help with annotations: those of a Deployment raise its generation.
	v := verdict{ready: ready.status, reason: ready.reason, message: ready.message,
		current: annotated || ready.observed == 0 || ready.observed == obj.GetGeneration()}
	for _, kind := range []string{"Reconciling", "Stalled"} {
		if c := conditionOf(status, kind); c.status == "True" {
			v.reason, v.message = c.reason, c.message
			v.stalled = kind == "Stalled"
		}
	}
	// A watch with manageStatus: false may leave no record but the log.
	if ready.status == "" && last.Outcome != "" {
		v.reason, v.message, v.current = last.Outcome, last.Reason, true
		if last.succeeded() {
			v.ready = "True"
		}
	}
	return v
}

// waitingForPods are reasons that say: the operator did its part, and the rest is up to images that a cluster of
// somebody else may not even be able to pull.
var waitingForPods = []string{"JobRunning", "ReplicasNotReady"}

// errStalled ends waits that can come to nothing.
var errStalled = errors.New("nothing more will happen")

// expected returns nil if a sample is as it should be, else what it is instead.
func (v verdict) expected(anyPods bool) error {
	switch {
	case v.ready == "True" && v.current:
		return nil
	case anyPods && v.current && slices.Contains(waitingForPods, v.reason):
		return nil
	case v.stalled && v.current:
		return fmt.Errorf("%w: %s: %s", errStalled, v.reason, v.message)
	case v.reason == "" && v.ready == "":
		return errors.New("no run yet")
	case v.message == "":
		return errors.New(v.reason)
	}
	return fmt.Errorf("%s: %s", v.reason, v.message)
}

// row returns a sample's row in the table.
func (v verdict) row(obj sample, last run) table.Row {
	return table.Row{ID: obj.id(), Kind: obj.GetKind(), Name: obj.GetName(),
		Ready: v.ready, Reason: v.reason, Run: last.ID, Duration: last.Duration}
}
