package watches

import (
	"math"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// anyValue reads a value of any shape, like a variable. Mappings have text keys; see scalar for the scalars.
func (d *decoder) anyValue(n *yaml.Node, path string, depth int) any {
	n = follow(n)
	switch {
	case !d.count(n, path):
		return nil
	case depth > maxDepth:
		d.failf(n, path, "", "lists and mappings nest more than %d deep", maxDepth)
		return nil
	case n.Kind == yaml.MappingNode:
		value := map[string]any{}
		for _, f := range d.fields(n, path, exactly) {
			value[f.name] = d.anyValue(f.value, join(path, f.name), depth+1)
		}
		return value
	case n.Kind == yaml.SequenceNode:
		value := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			value = append(value, d.anyValue(item, path, depth+1))
		}
		return value
	}
	value, _ := d.scalarValue(n, path)
	return value
}

// exactly is how the keys of free-form mappings are told apart.
func exactly(key string) string { return key }

// scalarValue reads a scalar, and tells of a type tag that is not understood.
func (d *decoder) scalarValue(n *yaml.Node, path string) (any, bool) {
	value, err := scalar(n)
	if err != nil {
		d.failf(n, path, "put the value in quotes if it is text", "%s: %v", path, err)
		return nil, false
	}
	if n.Style&yaml.TaggedStyle != 0 && !strings.HasPrefix(n.Tag, "!!") {
		d.warnf(n, path, "", "%s: the tag %s means nothing here and is ignored", path, n.Tag)
	}
	return value, true
}

// textValue reads text. Numbers and booleans are taken as text too; it is told where that changes their spelling.
func (d *decoder) textValue(n *yaml.Node, path string) (string, bool) {
	n = follow(n)
	if n.Kind != yaml.ScalarNode {
		d.failf(n, path, "", "%s must be text, not a list or mapping", path)
		return "", false
	}
	value, ok := d.scalarValue(n, path)
	written := text(value)
	if ok && value != nil && !strings.EqualFold(written, n.Value) && n.Style&yaml.TaggedStyle == 0 {
		d.notef(n, path, "put it in quotes to keep its spelling", "%s: %s is read as %s", path, n.Value, written)
	}
	return written, ok
}

// boolValue reads a boolean. A null leaves the default.
func (d *decoder) boolValue(n *yaml.Node, path string) (value, ok bool) {
	n = follow(n)
	if n.Kind != yaml.ScalarNode {
		d.failf(n, path, "", "%s must be true or false", path)
		return false, false
	}
	switch read, _ := scalar(n); v := read.(type) {
	case nil:
		return false, false
	case bool:
		return v, true
	}
	hint := ""
	if _, isBool := plain(n.Value).(bool); isBool {
		hint = "remove the quotes"
	}
	d.failf(n, path, hint, "%s must be true or false, not %q", path, n.Value)
	return false, false
}

// intValue reads an integer. A null leaves the default.
func (d *decoder) intValue(n *yaml.Node, path string) (value int, ok bool) {
	n = follow(n)
	if n.Kind != yaml.ScalarNode {
		d.failf(n, path, "", "%s must be an integer", path)
		return 0, false
	}
	switch read, _ := scalar(n); v := read.(type) {
	case nil:
		return 0, false
	case int64:
		if v >= math.MinInt32 && v <= math.MaxInt32 {
			return int(v), true
		}
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= math.MaxInt32 {
			return int(v), true
		}
	}
	hint := ""
	if _, isInt := plain(n.Value).(int64); isInt && quoted(n) {
		hint = "remove the quotes"
	}
	d.failf(n, path, hint, "%s must be an integer of at most 32 bits, not %q", path, n.Value)
	return 0, false
}

// durationValue reads a duration in Go's syntax. A null leaves the default.
func (d *decoder) durationValue(n *yaml.Node, path string) (value time.Duration, ok bool) {
	n = follow(n)
	if n.Kind != yaml.ScalarNode {
		d.failf(n, path, durationHint, "%s must be a duration", path)
		return 0, false
	}
	read, _ := scalar(n)
	if read == nil {
		return 0, false
	}
	if written, isText := read.(string); isText {
		if value, err := time.ParseDuration(written); err == nil {
			return value, true
		}
	}
	hint := durationHint
	if _, err := time.ParseDuration(n.Value + "s"); err == nil {
		hint = "write " + n.Value + "s for seconds"
	}
	d.failf(n, path, hint, "%s must be a duration with a unit, not %q", path, n.Value)
	return 0, false
}

const durationHint = "write it like 90s, 15m or 1h30m"
