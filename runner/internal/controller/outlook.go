package controller

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/chartbook-operator/chartbook/runner/internal/journal"
)

// outlook returns the runs that wait and those that come by themselves, in no order.
func (r *reconciler) outlook() []journal.Record {
	noted, appointments := r.notes.all()
	inLobby, running, since, now := r.lobby.all(), r.active.all(), r.waits.all(), r.Clock.Now()
	var records []journal.Record
	queued := func(key types.NamespacedName, w waiting, obstacle journal.Obstacle) {
		record := r.expected(key, w)
		record.State, record.Due, record.WaitsFor = journal.Queued, since[key], obstacle
		records = append(records, record)
	}
	for key, w := range inLobby {
		queued(key, w, journal.ForSlot)
	}
	for key, trigger := range noted {
		if _, answered := inLobby[key]; answered {
			continue // the run that waits deals with this, too
		}
		obstacle := journal.ForWorker
		if running[key] {
			obstacle = journal.ForRun
		}
		queued(key, waiting{cause{trigger: trigger}, r.notes.news.reason(key, trigger)}, obstacle)
	}
	for key, a := range appointments {
		_, isNoted := noted[key]
		_, waits := inLobby[key]
		switch w := (waiting{a.cause, r.notes.news.reason(key, a.trigger)}); {
		case isNoted || waits || running[key]: // the end of that run plans anew
		case !now.Before(a.at):
			queued(key, w, journal.ForWorker)
		default:
			record := r.expected(key, w)
			record.State, record.Due = journal.Planned, a.at
			records = append(records, record)
		}
	}
	return records
}

// expected is the record of a run that has no id yet.
func (r *reconciler) expected(key types.NamespacedName, w waiting) journal.Record {
	apiVersion, kind := r.Watch.GVK.ToAPIVersionAndKind()
	return journal.Record{
		Resource: journal.Resource{APIVersion: apiVersion, Kind: kind, Namespace: key.Namespace, Name: key.Name},
		Trigger:  w.trigger, Schedule: w.due.schedule, Why: w.why, Path: journal.Path{Asked: r.Executor},
	}
}
