package warm

import (
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

// shiftedClock is the real time, some of which a test can skip. Timers take their time.
type shiftedClock struct {
	clock.RealClock
	offset *atomic.Int64
}

func newShiftedClock() shiftedClock { return shiftedClock{offset: &atomic.Int64{}} }

func (c shiftedClock) shift(d time.Duration) { c.offset.Add(int64(d)) }

func (c shiftedClock) Now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

func (c shiftedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
