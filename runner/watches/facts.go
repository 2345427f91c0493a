package watches

import (
	"regexp"

	"gopkg.in/yaml.v3"
)

// Facts says what the play around a role finds out about its machine before the role runs.
type Facts struct {
	// Gather says whether it finds out anything.
	Gather bool
	// Subset are names that Ansible knows as gather_subset, like min or !all. Empty means all facts.
	Subset []string
}

const gatherFactsKey = "gatherFacts"

// factsForm is how subsets of facts are called. Which there are depends on the version of Ansible.
var factsForm = regexp.MustCompile(`^!?[a-z][a-z0-9_]*$`)

// readGatherFacts reads a boolean or a list of subsets. A null leaves the default.
func readGatherFacts(e *entry, n *yaml.Node, key string) {
	switch node := follow(n); {
	case null(n):
		delete(e.set, key)
	case node.Kind == yaml.SequenceNode && len(node.Content) == 0:
		e.failf(n, key, "write false for no facts", "%s is an empty list", key)
	case node.Kind == yaml.SequenceNode:
		facts := &Facts{Gather: true}
		e.eachItem(n, key, func(item *yaml.Node, path string) { e.readSubset(facts, item, path) })
		e.watch.GatherFacts = facts
	case node.Kind == yaml.MappingNode:
		e.failf(n, key, "write names like [min]", "%s must be true, false or a list", key)
	case node.Kind == yaml.ScalarNode && factsForm.MatchString(node.Value) && !looksBoolean(node):
		e.failf(n, key, "write ["+node.Value+"]", "%s must be true, false or a list", key)
	default:
		if gather, ok := e.boolValue(n, key); ok {
			e.watch.GatherFacts = &Facts{Gather: gather}
		}
	}
}

func (e *entry) readSubset(facts *Facts, n *yaml.Node, path string) {
	name, ok := e.textValue(n, path)
	switch {
	case !ok:
	case !factsForm.MatchString(name):
		e.failf(n, path, "write one like min, network or \"!all\"", "%s: %q is no subset of facts", path, name)
	default:
		facts.Subset = append(facts.Subset, name)
	}
}

// looksBoolean reports whether a scalar is a boolean, or would be one without its quotes.
func looksBoolean(n *yaml.Node) bool {
	_, boolean := plain(n.Value).(bool)
	return boolean
}

// checkGatherFacts refuses to choose facts for a playbook, whose plays say for themselves.
func (e *entry) checkGatherFacts() {
	finalizer := e.watch.Finalizer
	if e.watch.GatherFacts == nil || e.watch.Playbook == "" || finalizer != nil && finalizer.Role != "" {
		return
	}
	e.failf(e.at(gatherFactsKey), gatherFactsKey, "write gather_facts and gather_subset into the plays",
		"%s is for roles; a playbook says itself which facts it gathers", gatherFactsKey)
}
