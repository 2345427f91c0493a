package warm

import (
	"time"
)

// troubles are what went wrong with zygotes, by the key of their need.
type troubles map[string]*trouble

type trouble struct {
	count int       // in a row
	until time.Time // no other is started before
	err   *UnavailableError
}

const (
	// patienceWithTrouble is after how many failures in a row no other is started for a long time.
	maxTrouble = 3
	// firstPause is how long none is started after the first failure; it doubles with each.
	firstPause = time.Second
	// longPause is how long none is started after the last.
	longPause = 10 * time.Minute
	// goodLife is how long a zygote has to live for its death not to count as a failed start.
	goodLife = time.Minute
)

// refuse returns why no zygote may be started yet, nil if one may.
func (t troubles) refuse(key string, now time.Time) error {
	if known := t[key]; known != nil && now.Before(known.until) {
		return known.err
	}
	return nil
}

// add notes a failure and returns how long no other zygote is started.
func (t troubles) add(key string, now time.Time, err *UnavailableError) time.Duration {
	for other, known := range t {
		if now.After(known.until.Add(longPause)) {
			delete(t, other)
		}
	}
	known := t[key]
	if known == nil {
		known = &trouble{}
		t[key] = known
	}
	known.count++
	pause := longPause
	if known.count < maxTrouble {
		pause = firstPause << (known.count - 1)
	}
	known.until, known.err = now.Add(pause), err
	return pause
}
