package warm

import (
	"slices"
)

// Reason is why a run could not be forked from a zygote.
type Reason string

// The reasons.
const (
	Starting    Reason = "starting"     // its zygote is being started
	Environment Reason = "environment"  // the same, and the zygotes that are there have another environment
	StartFailed Reason = "start_failed" // its zygote could not be started, and it is too early to try again
	NoResponse  Reason = "no_response"  // its zygote did not answer
	Refused     Reason = "refused"      // its zygote could not fork
	TooMany     Reason = "too_many"     // as many zygotes as there may be are busy with runs of other environments
	Collections Reason = "collections"  // the collections cannot be imported ahead
	Locale      Reason = "locale"       // the locale is none that ansible-core runs in
	Interpreter Reason = "interpreter"  // ansible-playbook is no script of a Python that can be found
	Version     Reason = "version"      // the version of ansible-core or of Python is not known to work
	LongID      Reason = "long_id"      // the run's id is too long to find its processes by
	SelfTest    Reason = "self_test"    // a run that tests the zygote did not do what it should
	Platform    Reason = "platform"     // the system lacks what it takes
	Disabled    Reason = "disabled"     // the pool is closed
)

// Reasons returns the closed list.
func Reasons() []Reason {
	return []Reason{Starting, Environment, StartFailed, NoResponse, Refused, TooMany, Collections, Locale, Interpreter,
		Version, LongID, SelfTest, Platform, Disabled}
}

// reasonOf returns the reason that a zygote gives, start_failed for one that is not in the list.
func reasonOf(text string) Reason {
	if reason := Reason(text); slices.Contains(Reasons(), reason) {
		return reason
	}
	return StartFailed
}

// UnavailableError says that nothing of a run has started, and why.
type UnavailableError struct {
	Reason Reason
	Err    error // nil where the reason says it all
}

// Error implements error.
func (u *UnavailableError) Error() string {
	text := "no warm run: " + string(u.Reason)
	if u.Err != nil {
		text += ": " + u.Err.Error()
	}
	return text
}

// Unwrap returns what went wrong.
func (u *UnavailableError) Unwrap() error { return u.Err }
