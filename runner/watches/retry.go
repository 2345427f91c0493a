package watches

import (
	"time"

	"gopkg.in/yaml.v3"
)

// Retry is the budget for failed runs.
type Retry struct {
	// Limit is how often a failed run is repeated. Nil means without end.
	Limit *int
	// Backoff is the wait before the first repetition; it doubles with each. Default 1 s.
	Backoff time.Duration
	// MaxBackoff is the longest wait. Default 5 min.
	MaxBackoff time.Duration
}

// The defaults of a [Retry].
const (
	DefaultBackoff    = time.Second
	DefaultMaxBackoff = 5 * time.Minute
)

func readRetry(e *entry, n *yaml.Node, key string) {
	retry := &e.watch.Retry
	bounded := false
	e.eachField(n, key, []string{"limit", "backoff", "maxBackoff"}, func(name string, value *yaml.Node, path string) {
		switch name {
		case "limit":
			e.readRetryLimit(value, path)
		case "backoff":
			e.readWait(value, path, &retry.Backoff)
		case "maxBackoff":
			e.readWait(value, path, &retry.MaxBackoff)
			bounded = true
		}
	})
	if retry.Backoff > retry.MaxBackoff {
		if bounded {
			e.failf(n, key, "", "%s: backoff is longer than maxBackoff", key)
		}
		retry.MaxBackoff = retry.Backoff
	}
}

func (e *entry) readRetryLimit(n *yaml.Node, key string) {
	e.readCount(n, key, "write 0 for no repetition, or remove the key for any number", &e.watch.Retry.Limit)
}

// readCount reads a number that may be zero but not less; fix says what to write instead.
func (e *entry) readCount(n *yaml.Node, key, fix string, place **int) {
	value, ok := e.intValue(n, key)
	switch {
	case !ok:
	case value < 0:
		e.failf(n, key, fix, "%s must not be negative", key)
	default:
		*place = &value
	}
}

// readWait reads a duration that is more than none.
func (e *entry) readWait(n *yaml.Node, key string, place *time.Duration) {
	value, ok := e.durationValue(n, key)
	if ok && value <= 0 {
		e.failf(n, key, "write a duration like 10s", "%s must be more than 0s", key)
	} else if ok {
		*place = value
	}
}
