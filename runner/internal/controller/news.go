package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/fieldpath"
)

// news is what a run is told about why it happens. It holds names of fields and of children, and never a value: the resource
// may be a Secret.
type news struct { //nolint:recvcheck // few methods change it, and they are called while it is made
	paths    fieldpath.Set  // that changed since the last good run
	trigger  engine.Trigger // that the sentence is about
	sentence string
}

// add takes in what happened later. Of two sentences the one for the more urgent trigger stays.
func (n *news) add(later news) {
	n.paths.Merge(later.paths)
	if later.sentence != "" && urgency[later.trigger] >= urgency[n.trigger] {
		n.trigger, n.sentence = later.trigger, later.sentence
	}
}

// told forgets what a run was told. What changed is told again until a good run: a run that failed, or that waits, has not
// dealt with it, and a playbook that looks at it must not miss it.
func (n *news) told(outcome engine.Outcome) {
	n.trigger, n.sentence = "", ""
	if outcome.OK() {
		n.paths = fieldpath.Set{}
	}
}

// reason says in a sentence for people why a run with a trigger happens.
func (n news) reason(trigger engine.Trigger) string {
	changed := n.paths.Sentence()
	switch {
	case changed != "" && (trigger == engine.TriggerSpec || trigger == engine.TriggerMetadata):
		return changed
	case n.sentence != "" && n.trigger == trigger:
		return n.sentence
	}
	if words, known := reasons[trigger]; known {
		return words
	}
	return string(trigger)
}

// reasons are the words for triggers of which nothing more is known.
var reasons = map[engine.Trigger]string{
	engine.TriggerDeletion:  "the resource is being deleted",
	engine.TriggerSpec:      "the spec changed",
	engine.TriggerMetadata:  "labels or annotations changed",
	engine.TriggerRequest:   "somebody asked for a run",
	engine.TriggerDependent: "a child changed",
	engine.TriggerSchedule:  "a schedule is due",
	engine.TriggerRetry:     "the run before failed, waits or asked for another",
	engine.TriggerPeriod:    "the period is over",
	engine.TriggerInitial:   "the operator has started",
}

// newsDesk keeps the news of each resource until a good run has been told them. What it keeps of one is bounded (see
// [fieldpath.Set]); after a restart it is empty. The zero value is ready for use.
type newsDesk struct {
	mu   sync.Mutex
	kept map[types.NamespacedName]news
}

// add keeps what happened to key.
func (d *newsDesk) add(key types.NamespacedName, later news) {
	if later.paths.Empty() && later.sentence == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.kept[key]
	n.add(later)
	d.keep(key, n)
}

// take returns the news of key and forgets them.
func (d *newsDesk) take(key types.NamespacedName) news {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.kept[key]
	delete(d.kept, key)
	return n
}

// giveBack keeps what was taken and led to no good run, as something that happened before all that came meanwhile.
func (d *newsDesk) giveBack(key types.NamespacedName, earlier news) {
	if earlier.paths.Empty() && earlier.sentence == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	later := d.kept[key]
	earlier.add(later)
	d.keep(key, earlier)
}

func (d *newsDesk) keep(key types.NamespacedName, n news) {
	if d.kept == nil {
		d.kept = map[types.NamespacedName]news{}
	}
	d.kept[key] = n
}

// reason says why a run with a trigger is due, as far as it is known.
func (d *newsDesk) reason(key types.NamespacedName, trigger engine.Trigger) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kept[key].reason(trigger)
}

// foundNews are the news of a resource that is seen for the first time.
func foundNews(trigger engine.Trigger, initial bool) news {
	switch {
	case trigger == engine.TriggerSpec && initial:
		return news{trigger: trigger, sentence: "the spec changed while the operator was away"}
	case trigger == engine.TriggerSpec:
		return news{trigger: trigger, sentence: "the resource was created"}
	case trigger == engine.TriggerRetry:
		return news{trigger: trigger, sentence: "the run before was interrupted"}
	}
	return news{}
}

// news are those of a step from one state to another, which wakes the resource because of trigger, or does not.
func (f changeFilter) news(old, obj *unstructured.Unstructured, trigger engine.Trigger) news {
	n := news{paths: f.paths(old, obj), trigger: trigger}
	if trigger == engine.TriggerMetadata || trigger == engine.TriggerRequest {
		n.sentence = f.sentence(old, obj)
	}
	return n
}
