package watches

import "slices"

// KeyDoc describes one key of the file.
type KeyDoc struct {
	// Key is the key's path: finalizer.name, blacklist[].kind.
	Key string
	// Type is what it holds, in a word or two.
	Type string
	// Default is the value when the key is absent, in words where it is no literal; "required" if there is none.
	Default string
	// Tools are the old tools that read the key: ansible-operator, helm-operator. None for a key of Chartbook's own.
	Tools []string
	// Content is what the key has an effect on: playbook, role, chart.
	Content []string
	// Doc says in one sentence what it is for.
	Doc string
	// NotYet says that the key is reserved: a file that has it is refused.
	NotYet bool
}

// Keys describes every key of a watches file, in the order of the reference.
func Keys() []KeyDoc {
	var docs []KeyDoc
	for _, key := range entryKeys() {
		docs = append(docs, key.KeyDoc)
		docs = append(docs, key.nested...)
	}
	return slices.Clip(docs)
}

// The old tools, and what a watch can run.
var (
	fromBoth    = []string{"ansible-operator", "helm-operator"}
	fromAnsible = []string{"ansible-operator"}
	fromHelm    = []string{"helm-operator"}

	forAll     = []string{"playbook", "role", "chart"}
	forAnsible = []string{"playbook", "role"}
	forChart   = []string{"chart"}
)

const (
	overrideValuesKey = "overrideValues"
	varsKey           = "vars"

	releaseNamespaceKey = "releaseNamespace"
)

// staleKeys are keys that real files have although no tool ever read them, and what to do instead.
var staleKeys = map[string]string{
	"maxworkers":       "write maxConcurrentReconciles",
	"ansibleverbosity": "set the environment variable ANSIBLE_VERBOSITY_<KIND>_<GROUP>",
}
