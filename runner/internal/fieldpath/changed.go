package fieldpath

import "slices"

// Changed reports whether what the path leads to differs between two resources. It leads to nothing in both: no.
func (p Path) Changed(old, now map[string]any) bool {
	return p.changed(place{old, true}, place{now, true})
}

// place is what is found at a path, if anything is.
type place struct {
	value any
	there bool
}

func (p Path) changed(old, now place) bool {
	switch {
	case !old.there && !now.there:
		return false
	case len(p) == 0:
		return old.there != now.there || !Equal(old.value, now.value)
	case p[0].Kind == All:
		steps := append(old.steps(), now.steps()...)
		return slices.ContainsFunc(steps, func(step Step) bool { return p[1:].changed(old.at(step), now.at(step)) })
	}
	return p[1:].changed(old.at(p[0]), now.at(p[0]))
}

// at takes a step further.
func (f place) at(step Step) place {
	switch value := f.value.(type) {
	case map[string]any:
		if step.Kind == Key {
			below, there := value[step.Key]
			return place{below, there}
		}
	case []any:
		if step.Kind == Index && step.Index < len(value) {
			return place{value[step.Index], true}
		}
	}
	return place{}
}

// steps lists the steps into a list or mapping.
func (f place) steps() []Step {
	var steps []Step
	switch value := f.value.(type) {
	case map[string]any:
		for key := range value {
			steps = append(steps, Step{Key: key})
		}
	case []any:
		for i := range value {
			steps = append(steps, Step{Kind: Index, Index: i})
		}
	}
	return steps
}
