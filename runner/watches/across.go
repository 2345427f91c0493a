package watches

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// checkTwice reports kinds that two watches have, unless no resource can be both watches': then each is told of the
// other.
func (d *decoder) checkTwice(all []Watch) {
	earlier := map[schema.GroupVersionKind][]int{}
	for i := range all {
		w := &all[i]
		if w.GVK.Kind == "" || w.GVK.Version == "" {
			continue
		}
		for _, j := range earlier[w.GVK] {
			before := &all[j]
			if problem := twice(w, before); problem != nil {
				d.errors.add(*problem)
				break
			}
			w.Siblings = append(w.Siblings, Sibling{Selector: before.Selector, Earlier: true})
			before.Siblings = append(before.Siblings, Sibling{Selector: w.Selector})
		}
		earlier[w.GVK] = append(earlier[w.GVK], i)
	}
}

// twice says what keeps two watches from having the same kind; nil for nothing.
func twice(w, before *Watch) *Problem {
	switch {
	case !exclude(w.Selector, before.Selector):
		return &Problem{
			Position: w.Position,
			Key:      "kind",
			Message:  describe(w.GVK) + " is watched twice, first at " + before.Position.String(),
			Hint:     "make it one watch, or give both selectors that exclude each other",
		}
	case w.holder() != before.holder(): // a resource that goes from one to the other would be held for ever
		return &Problem{
			Position: w.Position,
			Key:      "finalizer",
			Message:  describe(w.GVK) + " is watched with another finalizer at " + before.Position.String(),
			Hint:     "use the same finalizer in all watches of a kind, or none",
		}
	}
	return nil
}

// holder names what holds a watch's resources at their deletion; empty for nothing.
func (w Watch) holder() string {
	switch {
	case w.Chart != "":
		return "chart"
	case w.Finalizer != nil:
		return w.Finalizer.Name
	}
	return ""
}

// advise recommends, once per file, to keep Ansible from evaluating what the authors of resources write.
func (d *decoder) advise() {
	if len(d.templated) == 0 {
		return
	}
	first := d.templated[0]
	more := ""
	if others := len(d.templated) - 1; others > 0 {
		more = fmt.Sprintf(" (and for %d more)", others)
	}
	d.warnings.add(Problem{
		Position: first.watch.Position,
		Key:      "markUnsafe",
		Message: "whoever may write a " + first.watch.GVK.Kind + " can have Ansible evaluate Jinja, and so run commands in the operator, " +
			"since markUnsafe is not set" + more,
		Hint:   "set markUnsafe: true, or false to accept it",
		Advice: true,
	})
}
