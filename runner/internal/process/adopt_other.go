//go:build unix && !linux

package process

import "errors"

// Adopted does not exist here.
type Adopted struct{}

// Adopt fails.
func Adopt(_, _ int) (*Adopted, error) {
	return nil, errors.New("this system has no handles of processes")
}

// Gone is never closed.
func (*Adopted) Gone() <-chan struct{} { return nil }

// Leader returns one that ends nothing.
func (*Adopted) Leader(ended <-chan struct{}, killed func() bool) *Leader {
	return &Leader{Ended: ended, Killed: killed}
}

// Close does nothing.
func (*Adopted) Close() {}
