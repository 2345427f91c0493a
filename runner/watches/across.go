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
			if !exclude(w.Selector, before.Selector) {
				d.errors.add(Problem{
					Position: w.Position,
					Key:      "kind",
					Message:  describe(w.GVK) + " is watched twice, first at " + before.Position.String(),
					Hint:     "make it one watch, or give both selectors that exclude each other",
				})
				break
			}
			w.Siblings = append(w.Siblings, Sibling{Selector: before.Selector, Earlier: true})
			before.Siblings = append(before.Siblings, Sibling{Selector: w.Selector})
		}
		earlier[w.GVK] = append(earlier[w.GVK], i)
	}
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
