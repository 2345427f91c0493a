package warm

import (
	"time"
)

// Notice is something that the pool did or found.
type Notice struct {
	What   What
	Reason Reason        // of FellBack and StartFails
	Err    error         // the same
	PID    int           // of the zygote, if there is one
	Took   time.Duration // of Ready: from the start
	Pause  time.Duration // of StartFails: how long none like it is started
	Detail string        // in words
}

// What a Notice is about.
type What string

// What there is to tell.
const (
	IsReady    What = "ready"    // a zygote can fork runs
	StartFails What = "failed"   // a zygote could not be started, or did not stand its test
	Died       What = "died"     // a zygote ended that should not have
	Retired    What = "retired"  // a zygote forks no more runs
	FellBack   What = "fallback" // a run could not be forked; told once for each reason
)
