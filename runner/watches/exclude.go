package watches

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// exclude reports whether it can be told from two selectors that no resource matches both: of one label they want
// different values, or one wants the label and the other that it is not there.
func exclude(a, b metav1.LabelSelector) bool {
	for key, one := range demands(a) {
		if other, both := demands(b)[key]; both && one.excludes(other) {
			return true
		}
	}
	return false
}

// demand is what a selector wants of one label.
type demand struct {
	in     []string // one of these; nil for any
	notIn  []string
	there  bool
	absent bool
}

// demands returns what a selector wants, by label.
func demands(s metav1.LabelSelector) map[string]demand {
	out := map[string]demand{}
	for key, value := range s.MatchLabels {
		out[key] = demand{in: []string{value}, there: true}
	}
	for _, e := range s.MatchExpressions {
		d := out[e.Key]
		switch e.Operator {
		case metav1.LabelSelectorOpIn:
			d.in, d.there = narrow(d.in, e.Values), true
		case metav1.LabelSelectorOpNotIn:
			d.notIn = append(d.notIn, e.Values...)
		case metav1.LabelSelectorOpExists:
			d.there = true
		case metav1.LabelSelectorOpDoesNotExist:
			d.absent = true
		}
		out[e.Key] = d
	}
	return out
}

func narrow(have, values []string) []string {
	if have == nil {
		return values
	}
	return slices.DeleteFunc(slices.Clone(have), func(v string) bool { return !slices.Contains(values, v) })
}

// excludes reports whether no label meets both demands.
func (d demand) excludes(other demand) bool {
	switch {
	case d.there && other.absent, d.absent && other.there:
		return true
	case d.in == nil:
		return other.in != nil && other.excludes(d)
	}
	return !slices.ContainsFunc(d.in, func(v string) bool {
		return !slices.Contains(other.notIn, v) && (other.in == nil || slices.Contains(other.in, v))
	})
}
