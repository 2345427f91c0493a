package observe

// EventReason is the reason of an event.
type EventReason string

// The reasons of events.
const (
	EventSucceeded            EventReason = "Succeeded"
	EventRepaired             EventReason = "Repaired"
	EventWaiting              EventReason = "Waiting"
	EventFailed               EventReason = "Failed"
	EventForbidden            EventReason = "Forbidden"
	EventRefused              EventReason = "Refused"
	EventPaused               EventReason = "Paused"
	EventInterrupted          EventReason = "Interrupted"
	EventFinalized            EventReason = "Finalized"
	EventFinalizerFailed      EventReason = "FinalizerFailed"
	EventReleased             EventReason = "Released"
	EventNoStatusSubresource  EventReason = "NoStatusSubresource"
	EventStatusPruned         EventReason = "StatusPruned"
	EventOverrideValuesInUse  EventReason = "OverrideValuesInUse"
	EventDependentUnwatchable EventReason = "DependentUnwatchable"
)

// ReasonDoc explains one reason of events.
type ReasonDoc struct {
	Reason  EventReason
	Type    string // Normal or Warning
	Meaning string // one sentence
}

// Types of events.
const (
	Normal  = "Normal"
	Warning = "Warning"
)

var eventReasons = []ReasonDoc{
	{EventSucceeded, Normal, "A run did what the resource asks for, and the one before had not, or was made for another spec."},
	{EventRepaired, Normal, "A chart's objects had been edited or deleted and were put back."},
	{EventWaiting, Normal, "A run found that something is not there yet, and is repeated."},
	{EventFailed, Warning, "A run failed and the one before had not, or for another reason."},
	{EventForbidden, Warning, "The API server refused a request of a run; the message names the missing permission."},
	{EventRefused, Warning, "The resource asks for something that is not run before it changes."},
	{EventPaused, Normal, "The annotation chartbook.dev/paused holds runs back."},
	{EventInterrupted, Normal, "The operator was stopped during a run, which is repeated."},
	{EventFinalized, Normal, "The finalizer has done its work."},
	{EventFinalizerFailed, Warning, "The finalizer failed, so the resource stays."},
	{EventReleased, Normal, "The finalizer was taken off without cleaning up, or since the resource left the selector."},
	{EventNoStatusSubresource, Warning, "The CRD has no status subresource, so the record of runs is kept in an annotation."},
	{EventStatusPruned, Warning, "The CRD's schema drops fields of status."},
	{EventOverrideValuesInUse, Warning, "Values of the watches file override those of the resource."},
	{EventDependentUnwatchable, Warning, "A kind that a run made cannot be watched, so changes of such objects are found by period only."},
}

// EventReasons returns the closed list of the reasons of events.
func EventReasons() []ReasonDoc { return append([]ReasonDoc(nil), eventReasons...) }

// typeOf returns the type of the events of a reason.
func typeOf(reason EventReason) string {
	for _, doc := range eventReasons {
		if doc.Reason == reason {
			return doc.Type
		}
	}
	return Normal
}
