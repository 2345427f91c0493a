package related

import (
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// link is one reference of one owner, and what the owner has seen of it. A link says that something changed when the
// stream shows another state than the one seen, however the stream came to know: by an event, or by a list after a
// watch was broken off. All of it is guarded by registry.mu.
type link struct {
	owner ownerKey
	target
	status  bool              // whether the status counts
	seen    map[string]record // by name
	version string            // resourceVersion of the list that was seen; empty for one object
	own     map[string]string // what the owner's last run wrote: name -> resourceVersion, empty for a deletion
	stream  *stream
}

func newLink(key ownerKey, r reference) *link {
	l := &link{owner: key, target: r.target, status: r.status, seen: map[string]record{}, version: r.found.version}
	for _, obj := range r.found.objects {
		l.seen[obj.GetName()] = newRecord(obj)
	}
	return l
}

// wrote takes note of the writes of a run to what the link leads to.
func (l *link) wrote(writes []engine.Write) {
	l.own = nil
	for _, w := range writes {
		if w.GVK.GroupKind() != l.gvk.GroupKind() || w.Namespace != l.namespaceOf() || (l.name != "" && w.Name != l.name) {
			continue
		}
		if l.own == nil {
			l.own = map[string]string{}
		}
		if l.own[w.Name] = w.ResourceVersion; w.Deleted {
			l.own[w.Name] = ""
		}
	}
}

// namespaceOf is the namespace of the objects; that of a cluster-scoped kind is none.
func (l *link) namespaceOf() string {
	if l.stream != nil && l.stream.clusterScoped {
		return ""
	}
	return l.namespace
}

// changed reports whether the stream shows something else than what was seen, and takes that for seen.
func (l *link) changed() bool {
	if l.stream == nil || !l.stream.synced {
		return false
	}
	if l.name != "" {
		return l.compare(l.name)
	}
	changed := false
	for name := range l.seen {
		if _, there := l.stream.records[name]; !there {
			changed = l.compare(name) || changed
		}
	}
	for name := range l.stream.records {
		changed = l.compare(name) || changed
	}
	return changed
}

// compare looks at one object.
func (l *link) compare(name string) bool {
	now, there := l.stream.records[name]
	before, was := l.seen[name]
	if !l.isNews(now, there, before, was) {
		return false
	}
	if there {
		l.seen[name] = now
	} else {
		delete(l.seen, name)
	}
	wrote, own := l.own[name]
	return !own || wrote != now.version
}

// isNews reports whether an object is not as it was seen.
func (l *link) isNews(now record, there bool, before record, was bool) bool {
	switch {
	case there && was: // else the stream lags behind, or shows what does not count
		return newer(now.version, before.version) && !same(now, before, l.status)
	case there: // else it was deleted before the list, and the stream is about to learn of it
		return l.version == "" || newer(now.version, l.version)
	default:
		return was && newer(l.stream.version, before.version)
	}
}

// newer reports whether one resourceVersion is later than another. Where they cannot be compared, another one is.
func newer(a, b string) bool {
	if order, err := resourceversion.CompareResourceVersion(a, b); err == nil {
		return order > 0
	}
	return a != b
}
