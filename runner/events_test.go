package runner_test

import (
	"context"
	"fmt"
	"strings"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// events lists the events about a resource.
func (o *operator) events(ctx context.Context, name string) ([]eventsv1.Event, error) {
	list := &eventsv1.EventList{}
	if err := o.client.List(ctx, list, client.InNamespace(o.namespace)); err != nil {
		return nil, err
	}
	var about []eventsv1.Event
	for _, e := range list.Items {
		if e.Regarding.Name == name {
			about = append(about, e)
		}
	}
	return about, nil
}

// eventuallyEvent waits for an event about a resource whose note holds a text.
func (o *operator) eventuallyEvent(name, eventType, reason, text string) {
	o.t.Helper()
	testkit.Eventually(o.t, soon, func(ctx context.Context) error {
		events, err := o.events(ctx, name)
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Type == eventType && e.Reason == reason && strings.Contains(e.Note, text) {
				return nil
			}
		}
		return fmt.Errorf("no event %s/%s with %q about %s among %d", eventType, reason, text, name, len(events))
	})
}
