package status

import (
	"maps"
	"slices"
	"time"
)

// Statuses of a condition. An absent condition has the status "".
const (
	isTrue    = "True"
	isFalse   = "False"
	isUnknown = "Unknown"
)

// condition is one that we want.
type condition struct {
	kind       string // its type
	status     string
	reason     string
	message    string
	generation int64          // observedGeneration; zero leaves it out, as the old tools' conditions do
	sparse     bool           // leave out an empty reason and message, as the old Helm conditions do
	result     map[string]any // ansibleResult; nil for none
}

// conditions is the list of a status. Entries that are not ours are passed through, whatever they are.
type conditions struct {
	list []any
	now  string
}

func newConditions(status map[string]any, now time.Time) *conditions {
	list, _ := status["conditions"].([]any)
	return &conditions{list: slices.Clone(list), now: now.UTC().Format(time.RFC3339)}
}

// find returns the place of the first condition of a type, or -1.
func (c *conditions) find(kind string) int {
	return slices.IndexFunc(c.list, func(entry any) bool { return field(entry, "type") == kind })
}

// get returns the condition of a type, or nil.
func (c *conditions) get(kind string) map[string]any {
	if i := c.find(kind); i >= 0 {
		return object(c.list[i])
	}
	return nil
}

// status returns the status of a type's condition; empty if there is none.
func (c *conditions) status(kind string) string { return field(c.get(kind), "status") }

// reason returns the reason of a type's condition; empty if there is none.
func (c *conditions) reason(kind string) string { return field(c.get(kind), "reason") }

// set puts want in the place of the condition of its type, or at the end. What it does not know of survives.
func (c *conditions) set(want condition) {
	i := c.find(want.kind)
	entry := map[string]any{}
	if i >= 0 {
		entry = maps.Clone(object(c.list[i]))
	}
	if field(entry, "status") != want.status || !isTime(entry["lastTransitionTime"]) {
		entry["lastTransitionTime"] = c.now
	}
	entry["type"] = want.kind
	entry["status"] = want.status
	put(entry, "reason", want.reason, want.sparse && want.reason == "")
	put(entry, "message", want.message, want.sparse && want.message == "")
	if want.generation != 0 {
		entry["observedGeneration"] = want.generation
	}
	put(entry, "ansibleResult", want.result, want.result == nil)
	if i < 0 {
		c.list = append(c.list, entry)
		return
	}
	c.list[i] = entry
	c.dropAfter(i, want.kind)
}

// setUnlessSame does nothing where status and reason are right already, whatever the rest says.
func (c *conditions) setUnlessSame(want condition) {
	if c.status(want.kind) == want.status && c.reason(want.kind) == want.reason {
		return
	}
	c.set(want)
}

// remove takes away the conditions of a type.
func (c *conditions) remove(kind string) { c.dropAfter(-1, kind) }

// dropAfter takes away the conditions of a type behind place i.
func (c *conditions) dropAfter(i int, kind string) {
	head, tail := c.list[:i+1], c.list[i+1:]
	c.list = append(slices.Clip(head), slices.DeleteFunc(slices.Clone(tail), func(entry any) bool {
		return field(entry, "type") == kind
	})...)
}

func put[T any](entry map[string]any, key string, value T, absent bool) {
	if absent {
		delete(entry, key)
		return
	}
	entry[key] = value
}

// object returns value as a map; nil if it is none.
func object(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

// field returns a text of a map; empty if there is no such text or map.
func field(entry any, key string) string {
	s, _ := object(entry)[key].(string)
	return s
}

func isTime(v any) bool {
	s, _ := v.(string)
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}
