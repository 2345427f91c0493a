package watches

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxVerbosity is how many v's ansible-playbook understands.
const maxVerbosity = 7

// readEnvironment applies the environment variables that an administrator sets per kind. They win over the file.
func (e *entry) readEnvironment() {
	if value, ok := e.kindVariable("MAX_CONCURRENT_RECONCILES"); ok {
		e.setConcurrency("MAX_CONCURRENT_RECONCILES", value)
	} else if value, ok := e.kindVariable("WORKER"); ok {
		e.notef(e.node, "", "set "+variableName("MAX_CONCURRENT_RECONCILES", e.watch.GVK),
			"the environment variable %s is deprecated", variableName("WORKER", e.watch.GVK))
		e.setConcurrency("WORKER", value)
	}
	value, ok := e.kindVariable("ANSIBLE_VERBOSITY")
	if !ok {
		return
	}
	verbosity, err := strconv.Atoi(value)
	if err != nil || verbosity < 0 || verbosity > maxVerbosity {
		e.badVariable("ANSIBLE_VERBOSITY", value, fmt.Sprintf("an integer from 0 to %d", maxVerbosity))
		return
	}
	e.watch.AnsibleVerbosity = &verbosity
}

func (e *entry) setConcurrency(prefix, value string) {
	concurrency, err := strconv.Atoi(value)
	if err != nil || concurrency <= 0 {
		e.badVariable(prefix, value, "an integer above 0")
		return
	}
	e.watch.MaxConcurrentReconciles = concurrency
}

func (e *entry) badVariable(prefix, value, want string) {
	e.notef(e.node, "", "set it to "+want, "the environment variable %s is ignored, since it is %q",
		variableName(prefix, e.watch.GVK), value)
}

// kindVariable looks up an environment variable for the watched kind.
func (e *entry) kindVariable(prefix string) (string, bool) {
	if e.watch.GVK.Kind == "" {
		return "", false
	}
	return e.options.LookupEnv(variableName(prefix, e.watch.GVK))
}

// variableName is the variable for a kind: PREFIX_KIND_GROUP in capitals, with dots turned to underscores. For the core
// group it ends in an underscore.
func variableName(prefix string, gvk schema.GroupVersionKind) string {
	return strings.ToUpper(strings.ReplaceAll(prefix+"_"+gvk.Kind+"_"+gvk.Group, ".", "_"))
}
