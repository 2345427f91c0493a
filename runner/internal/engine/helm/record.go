package helm

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Labels of ours on release Secrets. Helm copies the labels of a release to the next one, so the digest counts only
// next to the revision that it was made for.
const (
	digestLabel   = "chartbook.dev/digest"
	revisionLabel = "chartbook.dev/revision"
)

// record is what the metadata of a release Secret tells about one revision.
type record struct {
	version  int
	status   release.Status
	digest   digest // of the inputs; empty when another tool made the revision
	owners   []metav1.OwnerReference
	remote   *remoteOwner // the owner that is in another namespace; nil for none
	labels   map[string]string
	modified time.Time // when the record was last written
	holder   claim     // who works on it; empty unless it is unfinished
	seen     string    // resourceVersion, when it was listed
	attempts int       // upgrades to the same inputs that have failed, this one included
	givenUp  digest    // inputs whose upgrade was given up and rolled back to this revision
}

// newRecord reads the metadata of a release Secret. It reports false if that is no revision.
func newRecord(secret *metav1.PartialObjectMetadata) (record, bool) {
	labels := secret.GetLabels()
	version, err := strconv.Atoi(labels["version"])
	if err != nil || version < 1 {
		return record{}, false
	}
	r := record{
		version:  version,
		status:   release.Status(labels["status"]),
		owners:   secret.GetOwnerReferences(),
		remote:   readRemoteOwner(secret.GetAnnotations()),
		labels:   labels,
		modified: modified(secret),
		seen:     secret.GetResourceVersion(),
	}
	if r.unfinished() {
		r.holder = claimOf(secret.GetAnnotations())
	}
	r.readLabels(labels)
	return r, true
}

// readLabels reads what our own labels say, which counts for the revision only that they were made for.
func (r *record) readLabels(labels map[string]string) {
	if labels[revisionLabel] != strconv.Itoa(r.version) {
		r.digest, r.givenUp, r.attempts = "", "", 0
		return
	}
	r.digest, r.givenUp = digest(labels[digestLabel]), digest(labels[givenUpLabel])
	r.attempts, _ = strconv.Atoi(labels[attemptsLabel])
}

// modified returns when Helm last wrote a record.
func modified(secret *metav1.PartialObjectMetadata) time.Time {
	last := secret.GetCreationTimestamp().Time
	for _, label := range []string{"createdAt", "modifiedAt"} {
		seconds, err := strconv.ParseInt(secret.GetLabels()[label], 10, 64)
		if at := time.Unix(seconds, 0); err == nil && at.After(last) {
			last = at
		}
	}
	return last
}

// unfinished reports whether somebody is at work on the revision, or was when his process ended.
func (r *record) unfinished() bool {
	return r.status.IsPending() || r.status == release.StatusUninstalling
}

// good reports whether the revision is the one that is deployed.
func (r *record) good() bool { return r.status == release.StatusDeployed }

// controller returns the owner that controls the record, or nil.
func (r *record) controller() *metav1.OwnerReference {
	for i := range r.owners {
		if r.owners[i].Controller != nil && *r.owners[i].Controller {
			return &r.owners[i]
		}
	}
	if r.remote != nil {
		return &r.remote.OwnerReference
	}
	return nil
}

// history is a release's revisions, oldest first.
type history []record

func sorted(records []record) history {
	slices.SortFunc(records, func(a, b record) int { return cmp.Compare(a.version, b.version) })
	return records
}

// last returns the newest revision, or nil.
func (h history) last() *record {
	if len(h) == 0 {
		return nil
	}
	return &h[len(h)-1]
}

// next returns the number of the revision that comes next.
func (h history) next() int {
	if last := h.last(); last != nil {
		return last.version + 1
	}
	return 1
}

// deployed returns the newest revision that is deployed, or nil.
func (h history) deployed() *record {
	for i := len(h) - 1; i >= 0; i-- {
		if h[i].status == release.StatusDeployed {
			return &h[i]
		}
	}
	return nil
}

// inUse returns the revision that objects in the cluster come from, as far as that can be told: the one that is deployed,
// else the newest; nil for none.
func (h history) inUse() *record {
	if good := h.deployed(); good != nil {
		return good
	}
	last := h.last()
	if last == nil || last.status == release.StatusUninstalled {
		return nil
	}
	return last
}

// everDeployed reports whether any revision was good once.
func (h history) everDeployed() bool {
	return slices.ContainsFunc(h, func(r record) bool {
		return r.status == release.StatusDeployed || r.status == release.StatusSuperseded
	})
}

// failures returns the failed revisions after the last good one, oldest first.
func (h history) failures() history {
	from := len(h)
	for from > 0 && h[from-1].status == release.StatusFailed {
		from--
	}
	return h[from:]
}
