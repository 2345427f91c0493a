package status

// Transition is a condition of ours that got another status or reason. Events are made of these.
type Transition struct {
	Type       string // Ready, Reconciling ...
	From       string // status before; empty if the condition was not there
	To         string // status now; empty if the condition is gone
	FromReason string
	Reason     string
	Message    string
}

// transitions compares the conditions of the given types.
func transitions(before, after *conditions, kinds []string) []Transition {
	var found []Transition
	for _, kind := range kinds {
		was, is := before.get(kind), after.get(kind)
		t := Transition{Type: kind, From: field(was, "status"), To: field(is, "status"),
			FromReason: field(was, "reason"), Reason: field(is, "reason"), Message: field(is, "message")}
		if t.From != t.To || t.FromReason != t.Reason {
			found = append(found, t)
		}
	}
	return found
}
