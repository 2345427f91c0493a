package helm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// readyPoll is when to look again at objects that are not ready. Changes of their status come sooner; what the message
// says of Pods does not.
const readyPoll = 15 * time.Second

// maxUnready bounds how many objects a message names.
const maxUnready = 3

// unready is an object that is not as it should be in the end.
type unready struct {
	name   string
	why    string
	failed bool // it will not become ready by itself
}

// awaitReady makes a good result one that waits, while objects of the release are not ready. It takes one look: the worker is
// free meanwhile, and the objects' changes lead to the next.
func (r *run) awaitReady(result engine.Result, manifest string) engine.Result {
	infos, err := r.client.Build(strings.NewReader(manifest), false)
	if err != nil {
		return r.apiFailed("read the release's manifest", err)
	}
	infos = slices.DeleteFunc(infos, func(info *resource.Info) bool { return info.Name == "" || goesByItself(object(info)) })
	var late []unready
	lives, errs := r.lookAt(infos)
	for i, info := range infos {
		if errs[i] != nil {
			return r.apiFailed("see whether "+title(info, r.namespace)+" is ready", errs[i])
		}
		if u, ok := r.judge(info, lives[i]); !ok {
			late = append(late, u)
		}
	}
	if len(late) == 0 {
		return result
	}
	return waiting(result, late, len(infos))
}

// lookAt returns the live objects as this run has seen them already, or else reads them.
func (r *run) lookAt(infos []*resource.Info) ([]*unstructured.Unstructured, []error) {
	if r.seen == nil {
		return r.readAll(infos)
	}
	lives := make([]*unstructured.Unstructured, len(infos))
	for i, info := range infos {
		lives[i] = r.seen[childOf(info)]
	}
	return lives, make([]error, len(infos))
}

// judge reports whether an object is ready, and why not.
func (r *run) judge(info *resource.Info, live *unstructured.Unstructured) (unready, bool) {
	u := unready{name: title(info, r.namespace)}
	if live == nil {
		u.why = "it is missing"
		return u, false
	}
	computed, err := status.Compute(live)
	if err != nil {
		u.why = err.Error()
		return u, false
	}
	if computed.Status == status.CurrentStatus || computed.Status == status.UnknownStatus {
		return u, true
	}
	u.why, u.failed = computed.Message, computed.Status == status.FailedStatus
	if trouble := r.podTrouble(live); trouble != "" {
		u.why += ", " + trouble
	}
	return u, false
}

// waiting is the result of a release whose objects are not ready: it waits, or has failed where waiting is of no use.
func waiting(result engine.Result, late []unready, all int) engine.Result {
	// What has failed comes first.
	slices.SortStableFunc(late, func(a, b unready) int {
		switch {
		case a.failed == b.failed:
			return 0
		case a.failed:
			return -1
		}
		return 1
	})
	var texts []string
	for _, u := range late[:min(len(late), maxUnready)] {
		texts = append(texts, u.name+": "+u.why)
	}
	if more := len(late) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	result.Message = fmt.Sprintf("%d of %d objects are ready; %s", all-len(late), all, strings.Join(texts, "; "))
	if late[0].failed {
		result.Outcome, result.Reason = engine.Permanent, engine.ReasonObjectFailed
		return result
	}
	result.Outcome, result.Reason, result.RetryAfter = engine.Waiting, engine.ReasonNotReady, readyPoll
	return result
}
