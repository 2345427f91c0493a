package process

import (
	"fmt"
)

// Capture is a writer that keeps the beginning and the end of what is written to it. Its memory is bounded by
// the two limits, however much comes. It never fails and is not for concurrent use.
type Capture struct {
	headMax, tailMax int
	head, tail       []byte // tail holds up to twice its limit, to move bytes rarely
	total            int64
}

// NewCapture returns a Capture that keeps the first head and the last tail bytes.
func NewCapture(head, tail int) *Capture { return &Capture{headMax: head, tailMax: tail} }

// Write implements [io.Writer].
func (c *Capture) Write(p []byte) (int, error) {
	n := len(p)
	c.total += int64(n)
	if room := c.headMax - len(c.head); room > 0 {
		take := min(room, len(p))
		c.head = append(c.head, p[:take]...)
		p = p[take:]
	}
	p = p[max(0, len(p)-c.tailMax):]
	if len(c.tail)+len(p) > 2*c.tailMax {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-c.keep(len(p)):]...)
	}
	c.tail = append(c.tail, p...)
	return n, nil
}

// keep is how many bytes of the present tail are of use when more are about to follow.
func (c *Capture) keep(more int) int { return min(len(c.tail), c.tailMax-more) }

// Total is the number of bytes written.
func (c *Capture) Total() int64 { return c.total }

// Omitted is the number of bytes that were not kept.
func (c *Capture) Omitted() int64 {
	return c.total - int64(len(c.head)) - int64(len(c.Tail()))
}

// Head returns the kept beginning.
func (c *Capture) Head() []byte { return c.head }

// Tail returns the kept end, without what Head has.
func (c *Capture) Tail() []byte { return c.tail[max(0, len(c.tail)-c.tailMax):] }

// String returns all that was kept, with a line about what was not.
func (c *Capture) String() string {
	if n := c.Omitted(); n > 0 {
		return fmt.Sprintf("%s\n[%d bytes omitted]\n%s", c.head, n, c.Tail())
	}
	return string(c.head) + string(c.tail)
}
