package helm

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// goodRun is what is remembered of a resource's last good run, so that a run without anything to do asks nothing.
type goodRun struct {
	digest   digest
	release  engine.Release
	children []engine.Child
	drift    []string // what differs and is left so; nil when nobody looks
	recheck  bool     // the next run has to look at the children
}

// remember keeps a good run. Its manifest is kept only if configured, for it may be large.
func (e *Engine) remember(uid types.UID, run goodRun) {
	if uid == "" {
		return // a job that is not for a resource in the cluster
	}
	run.release.Action = engine.ActionNone
	if !e.cfg.KeepManifest {
		run.release.Manifest = ""
	}
	e.good.Add(uid, run)
}

// recall returns a resource's last good run.
func (e *Engine) recall(uid types.UID) (goodRun, bool) {
	value, ok := e.good.Get(uid)
	if !ok {
		return goodRun{}, false
	}
	run, ok := value.(goodRun)
	return run, ok
}

// Forget drops what is remembered of a resource that somebody else looks after from now on.
func (e *Engine) Forget(owner engine.Owner) { e.good.Remove(owner.UID) }

// forget drops what is remembered of the resource, since the release may no longer be as it was.
func (r *run) forget() {
	r.e.good.Remove(r.job.Owner.UID)
	r.knows(0)
}

// vainKey identifies an object of a resource.
type vainKey struct {
	owner types.UID
	child engine.Child
}

// inVain reports whether the patch with this signature was sent before and changed nothing: the API server writes
// the wanted values in another way.
func (e *Engine) inVain(key vainKey, signature string) bool {
	known, ok := e.vain.Get(key)
	return ok && known == signature
}

// wasInVain keeps the signature of a patch that changed nothing.
func (e *Engine) wasInVain(key vainKey, signature string) { e.vain.Add(key, signature) }
