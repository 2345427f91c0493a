package watches

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// checkTwice reports kinds that two watches have.
func (d *decoder) checkTwice(all []Watch) {
	first := map[schema.GroupVersionKind]Position{}
	for _, w := range all {
		if w.GVK.Kind == "" || w.GVK.Version == "" {
			continue
		}
		before, twice := first[w.GVK]
		if !twice {
			first[w.GVK] = w.Position
			continue
		}
		d.errors.add(Problem{
			Position: w.Position,
			Key:      "kind",
			Message:  describe(w.GVK) + " is watched twice, first at " + before.String(),
			Hint:     "make it one watch",
		})
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
