package watches

import "gopkg.in/yaml.v3"

// Resync is what the end of a period, and a start of the operator, do.
type Resync string

// The ways to resync.
const (
	ResyncAlways  Resync = "always"  // run
	ResyncChanged Resync = "changed" // run if the resource or the content changed since the last good run
)

func readResync(e *entry, n *yaml.Node, key string) {
	value, ok := e.textValue(n, key)
	switch Resync(value) {
	case "":
	case ResyncAlways, ResyncChanged:
		e.watch.Resync = Resync(value)
	default:
		if ok {
			e.failf(n, key, "write always or changed", "%s: there is no way %q to resync", key, value)
		}
	}
}

// checkResync tells of a fullResyncPeriod that says nothing.
func (e *entry) checkResync() {
	const key = "fullResyncPeriod"
	if e.watch.FullResyncPeriod != nil && e.watch.Resync != ResyncChanged {
		e.warnf(e.at(key), key, "add resync: changed, or remove the key", "%s has no effect, since each period runs", key)
	}
}
