package input

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// Variables that every run gets beside those of the resource.
const (
	metaVariable = "ansible_operator_meta"
	runVariable  = "chartbook_run"
)

// Run says what a run is told about itself.
type Run struct {
	ID           string
	Trigger      engine.Trigger
	Reason       string   // why it happens, in words
	ChangedPaths []string // fields that changed since the last run, like spec.size
	Generation   int64    // of the resource
	Attempt      int      // runs since the last success, from 1
	Deleting     bool     // the run cleans up
	Schedule     string   // name of the schedule that the run is for; empty for none
	CheckMode    bool     // the run must change nothing
	Given        Given    // from objects that the resource refers to
}

// ExtraVars returns the variables of a run of a playbook or role for a resource. The resource is not changed and shares
// nothing with the result. The error is a [*Refusal].
//
// Later ones win: the keys of the spec; what the operator sets (ansible_operator_meta, and the resource and its spec as
// they are, under names made of group and kind); what comes from objects that the resource refers to; the variables of the watch; those of its finalizer, when the resource
// is being deleted; chartbook_run. With markUnsafe Ansible evaluates none of the strings that come from the resource.
//
// A spec that is missing or null counts as empty.
func ExtraVars(obj map[string]any, w watches.Watch, run Run) (map[string]any, error) {
	if refusal := checkSpec(obj); refusal != nil {
		return nil, refusal
	}
	whole, refusal := firstFault(func(walk walk) (map[string]any, *Refusal) {
		return copier{w.MarkUnsafe, walk}.mapping(obj, 0)
	})
	if refusal != nil {
		return nil, refusal
	}
	spec := map[string]any{}
	if mapping, isMapping := whole["spec"].(map[string]any); isMapping {
		spec = mapping
	}
	vars, refusal := specVars(spec, w)
	if refusal != nil {
		return nil, refusal.under("spec")
	}
	name := resourceVariable(w.GVK)
	vars[metaVariable], vars[name], vars[name+"_spec"] = meta(obj, w.MarkUnsafe), whole, spec
	given, refusal := run.Given.variables()
	if refusal != nil {
		return nil, refusal
	}
	maps.Copy(vars, given)
	addVars(vars, w.Vars)
	if run.Deleting && w.Finalizer != nil {
		addVars(vars, w.Finalizer.Vars)
	}
	vars[runVariable] = run.variable()
	return vars, nil
}

// checkSpec refuses a spec that is no mapping. It looks at the resource itself, since a string that is marked becomes a
// mapping.
func checkSpec(obj map[string]any) *Refusal {
	switch obj["spec"].(type) {
	case nil, map[string]any:
		return nil
	}
	return refuse(ReasonInvalidSpec, "the spec must be a mapping").under("spec")
}

// specVars makes a variable of each key of the spec.
func specVars(spec map[string]any, w watches.Watch) (map[string]any, *Refusal) {
	names := renamer{names: map[string]string{}}
	variable := func(key string) string { return key }
	if w.SnakeCaseParameters {
		variable = names.name
	}
	if refusal := checkNames(spec, variable, w); refusal != nil || !w.SnakeCaseParameters {
		return maps.Clone(spec), refusal
	}
	return firstFault(func(walk walk) (map[string]any, *Refusal) {
		names.walk = walk
		return names.mapping(spec)
	})
}

// checkNames refuses a spec whose keys become no variables, or variables that are Ansible's own or the operator's. All names
// that begin with ansible_ are taken for Ansible's: each of its plugins may add to those that say how a host is reached.
func checkNames(spec map[string]any, variable func(key string) string, w watches.Watch) *Refusal {
	resource := resourceVariable(w.GVK)
	taken := givenNames(w)
	for key := range inOrder(spec) {
		if strings.Trim(key, " ") == "" {
			return emptyKey(key)
		}
		name := variable(key)
		if taken[name] {
			return refuse(ReasonVariableClash, "the operator itself sets %s, from an object that the resource refers to", name).under(shown(key))
		}
		reserved := strings.HasPrefix(name, "ansible_") || name == runVariable || name == resource || name == resource+"_spec"
		if reserved && !w.AllowReservedVariables {
			return refuse(ReasonReservedVariable, "the key would set the reserved variable %s", name).under(shown(key))
		}
	}
	return nil
}

// givenNames are the variables that come from objects which a resource refers to, whether or not they are there.
func givenNames(w watches.Watch) map[string]bool {
	names := map[string]bool{}
	for _, related := range w.Related {
		names[related.As] = true
	}
	for _, source := range w.VarsFrom {
		names[source.As] = true
	}
	return names
}

// resourceVariable names the variable that holds the resource: _group_kind, which for the core group is __kind.
func resourceVariable(gvk schema.GroupVersionKind) string {
	name := "_" + gvk.Group + "_" + strings.ToLower(gvk.Kind)
	return strings.NewReplacer(".", "_", "-", "_").Replace(name)
}

// meta names the resource. A name is not evaluated by Ansible, since API servers let no braces into it; the few kinds
// that may have any name, like Roles, get theirs marked.
func meta(obj map[string]any, markUnsafe bool) map[string]any {
	values := map[string]any{"namespace": "", "name": ""}
	metadata, _ := obj["metadata"].(map[string]any)
	for key := range values {
		value, _ := metadata[key].(string)
		values[key] = value
		if markUnsafe && strings.ContainsRune(value, '{') {
			values[key] = unsafe(value)
		}
	}
	return values
}

func addVars(vars, more map[string]any) {
	for name, value := range more {
		vars[name] = clone(value)
	}
}

// variable returns what a playbook sees of its run. Reason and paths may hold words of the resource's author and are
// marked always; no old playbook has them.
func (r Run) variable() map[string]any {
	paths := make([]any, len(r.ChangedPaths))
	for i, path := range r.ChangedPaths {
		paths[i] = unsafe(path)
	}
	return map[string]any{
		"id":           r.ID,
		"trigger":      string(r.Trigger),
		"reason":       unsafe(r.Reason),
		"changedPaths": paths,
		"generation":   r.Generation,
		"attempt":      int64(r.Attempt),
		"deleting":     r.Deleting,
		"schedule":     r.Schedule,
		"checkMode":    r.CheckMode,
	}
}
