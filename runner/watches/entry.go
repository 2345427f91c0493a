package watches

import (
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// Defaults of an entry.
const (
	defaultArtifacts = 20
	defaultHistory   = 10
)

// entry is the decoding of one watch.
type entry struct {
	*decoder
	node  *yaml.Node
	watch Watch
	set   map[string]*yaml.Node // values by key, as far as the file has them
	names map[string]bool       // variables that references set
}

// knownKeys finds keys by their lower-case name: the old tools did not mind case.
var knownKeys = sync.OnceValue(func() map[string]entryKey {
	known := map[string]entryKey{}
	for _, key := range entryKeys() {
		known[strings.ToLower(key.Key)] = key
	}
	return known
})

// readEntry reads one item of the file's list. What is wrong with it is reported; the watch is then of no use.
func (d *decoder) readEntry(n *yaml.Node) (Watch, bool) {
	node := follow(n)
	if node.Kind != yaml.MappingNode {
		d.failf(n, "", "write group, version, kind and a playbook, role or chart", "a watch must be a mapping")
		return Watch{}, false
	}
	e := &entry{decoder: d, node: n, set: map[string]*yaml.Node{}, watch: Watch{
		MaxRunnerArtifacts:      defaultArtifacts,
		ManageStatus:            true,
		WatchDependentResources: true,
		SnakeCaseParameters:     true,
		Retry:                   Retry{Backoff: DefaultBackoff, MaxBackoff: DefaultMaxBackoff},
		Resync:                  ResyncAlways,
		MaxHistory:              defaultHistory,
		Position:                d.source.position(node.Line, node.Column),
	}}
	for _, f := range d.fields(node, "", strings.ToLower) {
		e.readField(f)
	}
	e.finish()
	return e.watch, true
}

func (e *entry) readField(f field) {
	key, known := knownKeys()[strings.ToLower(f.name)]
	if !known {
		e.unknownKey(f, "", entryKeyNames())
		return
	}
	e.spelling(f, key.Key)
	e.set[key.Key] = f.value
	key.read(e, f.value, key.Key)
}

// entryKeyNames lists the keys of a watch, for suggestions.
var entryKeyNames = sync.OnceValue(func() []string {
	var names []string
	for _, key := range entryKeys() {
		names = append(names, key.Key)
	}
	return names
})

// unknownKey tells of a key that means nothing in a mapping that has the given ones.
func (d *decoder) unknownKey(f field, path string, names []string) {
	if d.warningList().full() { // to look for what was meant costs time
		d.warnf(f.key, path, "", "")
		return
	}
	hint := staleKeys[strings.ToLower(f.name)]
	if meant := nearest(f.name, names); hint == "" && meant != "" {
		hint = "did you mean " + meant + "?"
	}
	d.warnf(f.key, join(path, f.name), hint, "unknown key %s is ignored", join(path, f.name))
}

// spelling tells in strict mode of a key that is known only because case does not matter.
func (d *decoder) spelling(f field, name string) {
	if d.options.Strict && f.name != name {
		d.notef(f.key, f.name, "write "+name, "the key %s is spelled in another way than the reference has it", f.name)
	}
}

// finish checks what can be checked when all keys are read.
func (e *entry) finish() {
	e.checkKind()
	e.resolveContent()
	e.resolveFinalizer()
	e.checkVariables()
	e.checkEffect()
	e.checkGatherFacts()
	e.checkResync()
	e.checkTrigger()
	e.readEnvironment()
	if _, decided := e.set["markUnsafe"]; !decided && e.watch.Chart == "" && e.watch.content() != "" {
		e.templated = append(e.templated, e)
	}
}

// at returns the node of a key's value, or of the entry where the file does not have the key.
func (e *entry) at(key string) *yaml.Node {
	if n, ok := e.set[key]; ok {
		return n
	}
	return e.node
}

// checkEffect tells of keys that do nothing for the kind of content that the watch has.
func (e *entry) checkEffect() {
	content := e.watch.content()
	if content == "" {
		return
	}
	for name, n := range e.set {
		key, known := knownKeys()[strings.ToLower(name)]
		isContent := name == "playbook" || name == "role" || name == "chart"
		if known && !isContent && !key.NotYet && !slices.Contains(key.Content, content) {
			e.warnf(n, name, "remove it", "%s has no effect on a %s", name, content)
		}
	}
}

// content returns which of playbook, role and chart a watch runs.
func (w Watch) content() string {
	switch {
	case w.Playbook != "":
		return "playbook"
	case w.Role != "":
		return "role"
	case w.Chart != "":
		return "chart"
	}
	return ""
}
