package helm

import (
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

var testOwner = engine.Owner{APIVersion: "example.com/v1", Kind: "App", Namespace: "ns", Name: "one", UID: "uid-1"}

const (
	wanted   = digest("chart.values.caps")
	newChart = digest("other.values.caps")
	newCaps  = digest("chart.values.other")
)

// owned returns a record of the resource's.
func owned(version int, status release.Status, d digest) record {
	return record{version: version, status: status, digest: d, owners: []metav1.OwnerReference{reference(testOwner)}}
}

func ownedBySomeone(change func(*engine.Owner)) record {
	owner := testOwner
	owner.UID = "uid-2"
	change(&owner)
	r := owned(1, release.StatusDeployed, wanted)
	r.owners = []metav1.OwnerReference{reference(owner)}
	return r
}

func failedTimes(version int, d digest, attempts int) record {
	r := owned(version, release.StatusFailed, d)
	r.attempts = attempts
	return r
}

func rolledBackTo(version int, d, givenUp digest) record {
	r := owned(version, release.StatusDeployed, d)
	r.givenUp = givenUp
	return r
}

func unowned1(status release.Status, age time.Duration) record {
	return record{version: 1, status: status, modified: testNow.Add(-age)}
}

var testNow = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestDetermine(t *testing.T) {
	deployed, failed, superseded := release.StatusDeployed, release.StatusFailed, release.StatusSuperseded
	tests := []struct {
		why     string
		history history
		chart   string // of the newest revision; default the resource's
		want    state
	}{
		{"no revision at all", nil, "", absent},
		{"uninstalled by hand with its history kept", history{owned(1, release.StatusUninstalled, wanted)}, "", absent},
		{"good and from the same inputs", history{owned(1, deployed, wanted)}, "", unchanged},
		{"older failures do not matter once there is a good revision", history{owned(1, failed, newChart), owned(2, deployed, wanted)}, "", unchanged},
		{"other inputs", history{owned(1, deployed, newChart)}, "", outOfSync},
		{"the same chart and values in a changed cluster may give the same", history{owned(1, deployed, newCaps)}, "", unproven},
		{"made by the Operator SDK: no digest", history{owned(1, deployed, "")}, "", unproven},
		{"made by stock helm: no digest and no owner", history{unowned1(deployed, 0)}, "", unproven},
		{"the last revision is gone", history{owned(1, superseded, wanted)}, "", outOfSync},
		{"a first install has failed", history{owned(1, failed, wanted)}, "", failedInstall},
		{"so have several", history{owned(1, failed, newChart), owned(2, failed, wanted)}, "", failedInstall},
		{"an upgrade has failed", history{owned(1, deployed, newChart), owned(2, failed, wanted)}, "", failedUpgrade},
		{"an upgrade has failed and the good revision is superseded", history{owned(1, superseded, newChart), owned(2, failed, wanted)}, "", failedUpgrade},
		{"the resource went back to what is deployed while an upgrade stands failed", history{owned(1, deployed, wanted), owned(2, failed, newChart)}, "", failedUpgrade},
		{"killed in an install", history{owned(1, release.StatusPendingInstall, wanted)}, "", interrupted},
		{"killed in an upgrade", history{owned(1, deployed, newChart), owned(2, release.StatusPendingUpgrade, wanted)}, "", interrupted},
		{"killed in an uninstall", history{owned(1, release.StatusUninstalling, wanted)}, "", interrupted},
		{"stock helm is at work", history{unowned1(release.StatusPendingUpgrade, time.Minute)}, "", busy},
		{"stock helm was at work long ago", history{unowned1(release.StatusPendingUpgrade, time.Hour)}, "", interrupted},
		{"an upgrade has failed too often", history{owned(1, deployed, newChart), failedTimes(2, wanted, 3)}, "", givenUp},
		{"an upgrade has failed, and may be tried again", history{owned(1, deployed, newChart), failedTimes(2, wanted, 2)}, "", failedUpgrade},
		{"other inputs have failed too often", history{owned(1, deployed, wanted), failedTimes(2, newChart, 3)}, "", failedUpgrade},
		{"an upgrade was given up and rolled back", history{owned(1, superseded, newChart), failedTimes(2, wanted, 3), rolledBackTo(3, newChart, wanted)}, "", rolledBack},
		{"the resource went back to what was rolled back to", history{owned(1, superseded, wanted), failedTimes(2, newChart, 3), rolledBackTo(3, wanted, newChart)}, "", unchanged},
		{"something else was rolled back", history{rolledBackTo(3, newChart, newCaps)}, "", outOfSync},
		{"a status from the future counts as failed", history{owned(1, "new-status", wanted)}, "", failedInstall},
		{"stock helm's, from another chart", history{unowned1(deployed, 0)}, "other", foreign},
		{"stock helm's, from a chart that nobody knows", history{unowned1(deployed, 0)}, "?", foreign},
		{"the chart was renamed; the release is still the resource's", history{owned(1, deployed, newChart)}, "other", outOfSync},
		{"another kind's resource of the same name", history{ownedBySomeone(func(o *engine.Owner) { o.Kind = "Other" })}, "", foreign},
		{"another group's resource of the same kind and name", history{ownedBySomeone(func(o *engine.Owner) { o.APIVersion = "other.com/v1" })}, "", foreign},
		{"another resource of the kind, whose release was named by hand", history{ownedBySomeone(func(o *engine.Owner) { o.Name = "two" })}, "", foreign},
		{"the resource of this name was made anew, as from a backup", history{ownedBySomeone(func(*engine.Owner) {})}, "", unowned},
		{"the same, by another version of the kind", history{ownedBySomeone(func(o *engine.Owner) { o.APIVersion = "example.com/v2" })}, "", unowned},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			chart := test.chart
			switch chart {
			case "":
				chart = "mine"
			case "?":
				chart = ""
			}
			got, why := determine(facts{history: test.history, chart: chart, mine: "mine", want: wanted, owner: testOwner, now: testNow, alone: true, retries: 2})
			if got != test.want {
				t.Errorf("state is %q (%s), want %q", got, why, test.want)
			}
			if why == "" && got != unchanged {
				t.Error("nobody is told why")
			}
		})
	}
}

// What counts besides the history: whether others can be at work, and whether somebody asks.
func TestDetermineUnfinished(t *testing.T) {
	sdk := owned(1, release.StatusPendingUpgrade, "")
	sdk.modified = testNow.Add(-time.Minute)
	spent := history{owned(1, release.StatusDeployed, newChart), failedTimes(2, wanted, 3)}
	for why, tt := range map[string]struct {
		facts facts
		want  state
	}{
		"the Operator SDK may still be at work":               {facts{history: history{sdk}}, busy},
		"it cannot, where leader election lets one work":      {facts{history: history{sdk}, alone: true}, interrupted},
		"stock helm takes part in no election":                {facts{history: history{unowned1(release.StatusPendingUpgrade, time.Minute)}, alone: true}, busy},
		"another operator claims it":                          {facts{history: history{owned(1, release.StatusPendingUpgrade, wanted)}, held: true}, busy},
		"ours, and nobody claims it":                          {facts{history: history{owned(1, release.StatusPendingUpgrade, wanted)}}, interrupted},
		"somebody asks for what was given up":                 {facts{history: spent, asked: true}, failedUpgrade},
		"somebody asks for what was given up and rolled back": {facts{history: history{rolledBackTo(3, newChart, wanted)}, asked: true}, outOfSync},
	} {
		f := tt.facts
		f.owner, f.now, f.want, f.mine, f.chart = testOwner, testNow, wanted, "mine", "mine"
		if got, reason := determine(f); got != tt.want {
			t.Errorf("%s: %q (%s), want %q", why, got, reason, tt.want)
		}
	}
}

func TestPlan(t *testing.T) {
	yes, no := true, false
	tests := []struct {
		why    string
		state  state
		verify bool
		same   *bool
		want   move
	}{
		{"nothing has changed", unchanged, false, nil, moveNone},
		{"nothing has changed, but the children may have", unchanged, true, nil, moveVerify},
		{"an install looks at everything anyway", absent, true, nil, moveInstall},
		{"a failed install is tried again", failedInstall, false, nil, moveInstall},
		{"changed inputs", outOfSync, false, nil, moveUpgrade},
		{"a failed upgrade is tried again, not rolled back", failedUpgrade, false, nil, moveUpgrade},
		{"what was cut off comes first", interrupted, false, nil, moveUnlock},
		{"what was given up is not tried", givenUp, true, nil, moveGiveUp},
		{"what was rolled back is looked after", rolledBack, true, nil, moveStay},
		{"somebody else's work is waited for", busy, true, nil, moveWait},
		{"somebody else's release is left alone", foreign, true, nil, moveRefuse},
		{"the same inputs without an owner", unowned, false, nil, moveAdopt},
		{"unknown inputs have to be compared", unproven, false, nil, moveCompare},
		{"compared and the same: no revision", unproven, false, &yes, moveAdopt},
		{"compared and different", unproven, true, &no, moveUpgrade},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			if got := plan(test.state, test.verify, test.same); got != test.want {
				t.Errorf("move is %q, want %q", got, test.want)
			}
		})
	}
}

func TestDigestCountsForItsRevisionOnly(t *testing.T) {
	meta := func(version, revision string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
			"version": version, "status": "deployed", digestLabel: string(wanted), revisionLabel: revision,
		}}}
	}
	if r, ok := newRecord(meta("2", "2")); !ok || r.digest != wanted {
		t.Errorf("record %+v, %v", r, ok)
	}
	if r, ok := newRecord(meta("3", "2")); !ok || r.digest != "" {
		t.Errorf("the labels that stock helm copied from revision 2 count for revision 3: %+v", r)
	}
	for _, bad := range []string{"", "x", "0", "-1"} {
		if _, ok := newRecord(meta(bad, bad)); ok {
			t.Errorf("version %q counts as a revision", bad)
		}
	}
}
