package redact

import (
	"sync"
)

// Mark is what stands where a secret was.
const Mark = "[redacted]"

// Full takes the place of a whole text when there are more secrets than can be remembered: saying too little is better
// than saying a secret.
const Full = "[redacted: the run has read more secrets than can be told from other text]"

// Bounds of what is remembered, in bytes. Ten bytes of memory go with each byte of pattern.
const (
	// MaxValue is how much of one value counts. Of a longer one the beginning is known and taken out.
	MaxValue = 16 << 10
	// MaxTotal is the size of all forms of all values. Beyond it nothing can be told any more, see [Full].
	MaxTotal = 512 << 10
)

// Values are the secrets of one run. The zero value knows none and is ready for use. It is safe for use by several
// goroutines.
type Values struct {
	mu       sync.Mutex
	patterns map[string]struct{}
	size     int
	full     bool
	built    *automaton // of the patterns; nil when there are new ones
}

// Learn makes each of secrets known. Values that are no secret or too common to be told from other text are left
// out: those of less than 5 bytes, numbers of up to 5 digits, and words like "false", "admin" or "localhost".
func (v *Values) Learn(secrets ...[]byte) {
	for _, secret := range secrets {
		v.add(formsOf(secret))
	}
}

// add remembers patterns.
func (v *Values) add(patterns []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, pattern := range patterns {
		if _, known := v.patterns[pattern]; known || v.full {
			continue
		}
		if v.size+len(pattern) > MaxTotal {
			v.full, v.patterns, v.built = true, nil, nil
			return
		}
		if v.patterns == nil {
			v.patterns = map[string]struct{}{}
		}
		v.patterns[pattern] = struct{}{}
		v.size += len(pattern)
		v.built = nil
	}
}

// String returns s with [Mark] in the place of each secret. Where secrets overlap, one mark stands for all of them.
func (v *Values) String(s string) string {
	if len(s) < minValue {
		return s
	}
	machine, full := v.machine()
	switch {
	case full:
		return Full
	case machine == nil:
		return s
	}
	return replace(s, machine.find(s))
}

// machine returns what finds the patterns; nil if there are none.
func (v *Values) machine() (machine *automaton, full bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.built == nil && len(v.patterns) > 0 {
		v.built = newAutomaton(v.patterns)
	}
	return v.built, v.full
}
