package warm

import (
	"errors"
	"fmt"
	"strings"
)

var (
	errSilent = errors.New("it did not say in time that it is ready")
	errMute   = errors.New("it ended before it was ready")
)

// awaitReady waits until the process says that it can fork runs.
func (z *zygote) awaitReady() *UnavailableError {
	timer := z.pool.cfg.Clock.NewTimer(z.pool.cfg.StartTimeout)
	defer timer.Stop()
	select {
	case m := <-z.said:
		return z.hasBegun(m)
	case <-z.lost:
	case <-timer.C():
		return &UnavailableError{StartFailed, errSilent}
	}
	select {
	case m := <-z.said: // its last words, but its own
		return z.hasBegun(m)
	default:
		return &UnavailableError{StartFailed, errMute}
	}
}

// hasBegun takes in what the process says of itself.
func (z *zygote) hasBegun(m message) *UnavailableError {
	switch {
	case m.Failed != nil:
		return &UnavailableError{reasonOf(m.Failed.Reason), errors.New(m.Failed.Message)}
	case m.Ready.Protocol != protocolVersion:
		return &UnavailableError{StartFailed, fmt.Errorf("it speaks version %d of the protocol, not %d", m.Ready.Protocol, protocolVersion)}
	}
	z.ready = *m.Ready
	return nil
}

// String describes a zygote.
func (r *ready) String() string {
	text := "ansible-core " + r.Ansible + ", Python " + r.Python
	if r.Hooks != "" {
		text += ", without forking modules: " + r.Hooks
	}
	return strings.Join(append([]string{text}, r.Notes...), "; ")
}
