package runner

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"github.com/chartbook-operator/chartbook/runner/internal/observe"
)

// eventRecorder records events in the API group events.k8s.io.
type eventRecorder struct{ events.EventRecorder }

// Event implements [controller.Events].
func (r eventRecorder) Event(obj runtime.Object, event observe.Event) {
	r.Eventf(obj, nil, event.Type, string(event.Reason), event.Action, "%s", event.Note)
}
