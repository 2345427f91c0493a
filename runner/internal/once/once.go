// Package once remembers what was said, so that it is said once.
package once

import "sync"

// maxKept bounds how many texts are remembered. When there are more, all are forgotten and may be said again.
const maxKept = 1000

// Texts remembers texts. The zero value is ready for use, and safe for concurrent use.
type Texts struct {
	mu   sync.Mutex
	said map[string]bool
}

// First reports whether it is asked about a text for the first time.
func (t *Texts) First(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.said[text] {
		return false
	}
	if t.said == nil || len(t.said) >= maxKept {
		t.said = map[string]bool{}
	}
	t.said[text] = true
	return true
}
