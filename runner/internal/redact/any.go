package redact

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Any returns a deep copy of a JSON-like value with secrets taken out of its texts and of the keys of its maps. Numbers
// that are a secret become text. Keys that become equal are told apart by a number. Values of other types are returned
// as they are.
func (v *Values) Any(value any) any {
	switch value := value.(type) {
	case string:
		return v.String(value)
	case []byte:
		return []byte(v.String(string(value)))
	case json.Number:
		return v.number(string(value), value)
	case int:
		return v.number(strconv.Itoa(value), value)
	case int64:
		return v.number(strconv.FormatInt(value, 10), value)
	case float64:
		return v.number(strconv.FormatFloat(value, 'f', -1, 64), value)
	case []any:
		return list(v, value)
	case []string:
		return list(v, value)
	case map[string]any:
		return object(v, value)
	case map[string]string:
		return object(v, value)
	}
	return value
}

// number returns the text of a number that is a secret, else the number.
func (v *Values) number(text string, value any) any {
	if safe := v.String(text); safe != text {
		return safe
	}
	return value
}

func list[T any](v *Values, value []T) any {
	if value == nil {
		return value
	}
	safe := make([]T, len(value))
	for i, item := range value {
		safe[i], _ = v.Any(item).(T) // nil stays nil
	}
	return safe
}

func object[T any](v *Values, value map[string]T) any {
	if value == nil {
		return value
	}
	safe := make(map[string]T, len(value))
	for _, key := range slices.Sorted(maps.Keys(value)) {
		name := v.String(key)
		for n := 2; ; n++ {
			if _, taken := safe[name]; !taken {
				break
			}
			name = fmt.Sprintf("%s %d", v.String(key), n)
		}
		safe[name], _ = v.Any(value[key]).(T)
	}
	return safe
}
