package helm

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// told is an event about the record of a revision of release "one".
func told(version string, status release.Status) *metav1.PartialObjectMetadata {
	record := &metav1.PartialObjectMetadata{}
	record.Namespace = "here"
	record.Labels = map[string]string{"name": "one", "version": version, "status": string(status)}
	return record
}

func TestWhatOthersDoToARelease(t *testing.T) {
	key := types.NamespacedName{Namespace: "here", Name: "one"}
	for why, tt := range map[string]struct {
		tell func(*Records)
		want int // how often the resource is woken
	}{
		"the good revision is seen":        {func(r *Records) { r.changed(told("2", "deployed"), false) }, 0},
		"an older one is superseded":       {func(r *Records) { r.changed(told("1", "superseded"), false) }, 0},
		"an older one is dropped":          {func(r *Records) { r.changed(told("1", "superseded"), true) }, 0},
		"another one is made":              {func(r *Records) { r.changed(told("3", "pending-rollback"), false) }, 1},
		"the good revision is superseded":  {func(r *Records) { r.changed(told("2", "superseded"), false) }, 1},
		"the good revision is deleted":     {func(r *Records) { r.changed(told("2", "deployed"), true) }, 1},
		"its deletion is noticed later":    {func(r *Records) { r.changed(cache.DeletedFinalStateUnknown{Obj: told("2", "deployed")}, true) }, 1},
		"an operator's own run makes one":  {func(r *Records) { again(r, key, 3, told("3", "deployed")) }, 0},
		"another one is made during a run": {func(r *Records) { again(r, key, 2, told("3", "deployed")) }, 1},
		"a run of somebody else's resource that was refused": {func(r *Records) {
			r.begin(key)()
			r.changed(told("3", "deployed"), false)
		}, 1},
		"a run that failed knows nothing": {func(r *Records) { again(r, key, 0, told("3", "failed")) }, 0},
	} {
		woken := 0
		r := &Records{log: logr.Discard(), live: map[string]bool{}, known: map[types.NamespacedName]*knownRelease{}}
		end := r.begin(key)
		r.know(key, 2, func(string) { woken++ })
		end()
		tt.tell(r)
		if woken != tt.want {
			t.Errorf("%s: woken %d times, want %d", why, woken, tt.want)
		}
	}
}

// again is a run during which a record changes, and after which version is the good one.
func again(r *Records, key types.NamespacedName, version int, event *metav1.PartialObjectMetadata) {
	end := r.begin(key)
	r.changed(event, false)
	r.know(key, version, r.known[key].wake)
	end()
}

// Where records cannot be watched, each pass takes a look instead.
func TestReleasesAreLookedAtWhereNobodyTells(t *testing.T) {
	w := newWorld(t)
	e := w.engine("plain", func(c *Config) { c.Records = w.records() })
	job := w.job("one", nil)
	w.did(e, job, engine.ActionInstall)
	if result := w.did(e, job, engine.ActionNone); result.APIRequests != 1 {
		t.Errorf("a pass takes %d requests", result.APIRequests)
	}
	w.delete(secrets, w.namespace, secretName("one", 1))
	w.did(e, job, engine.ActionInstall)
}

func TestChangesOfRecordsWakeTheirResource(t *testing.T) {
	w := newWorld(t)
	records := w.records()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- records.Start(ctx) }()
	e := w.engine("plain", func(c *Config) { c.Records = records })
	woken := make(chan types.NamespacedName, 100)
	e.OnChange(func(owner types.NamespacedName, _ string) { woken <- owner })
	job := w.job("one", map[string]any{"message": "first"})
	w.did(e, job, engine.ActionInstall)
	job.Inputs = map[string]any{"message": "second"}
	w.did(e, job, engine.ActionUpgrade)
	testkit.Eventually(t, 30*time.Second, func(context.Context) error {
		if !records.covers(w.namespace) {
			return errors.New("no events come in")
		}
		return nil
	})
	rollback := action.NewRollback(w.stock())
	rollback.Version = 1
	for why, act := range map[string]func() error{
		"a rollback by hand":       func() error { return rollback.Run("one") },
		"a record that is deleted": func() error { return w.client.Delete(t.Context(), w.record("one", w.newest("one"))) },
	} {
		w.idle(e, job, woken)
		if err := act(); err != nil {
			t.Fatalf("%s: %v", why, err)
		}
		select {
		case owner := <-woken:
			if owner.Name != "one" || owner.Namespace != w.namespace {
				t.Errorf("%s: %s is woken", why, owner)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: nobody is woken", why)
		}
		w.did(e, job, engine.ActionUpgrade)
		if got := w.message("one-config", "message"); got != "second" {
			t.Errorf("%s: after it the operator leaves %q", why, got)
		}
	}
	w.idle(e, job, woken)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// idle waits until events about the engine's own writes have come in, after which a pass asks nothing.
func (w *world) idle(e *Engine, job engine.Job, woken <-chan types.NamespacedName) {
	w.t.Helper()
	testkit.Eventually(w.t, 30*time.Second, func(ctx context.Context) error {
		for len(woken) > 0 {
			<-woken
		}
		if result, err := e.Run(ctx, job); err != nil || result.Outcome != engine.Succeeded || result.APIRequests != 0 {
			return &outcomeError{result}
		}
		return nil
	})
}

// records returns what would follow the records of the world's namespace.
func (w *world) records() *Records {
	w.t.Helper()
	records, err := NewRecords(w.config, []string{w.namespace}, logr.Discard())
	if err != nil {
		w.t.Fatal(err)
	}
	return records
}

// newest returns the number of a release's newest revision.
func (w *world) newest(name string) int {
	w.t.Helper()
	rel, err := w.stock().Releases.Last(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return rel.Version
}
