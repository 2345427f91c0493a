package runner

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible/warm"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// executor returns what runs the playbook or role of a watch.
func (o *Options) executor(w watches.Watch) ansible.Executor {
	return ansible.Executor(cmp.Or(string(w.Executor), o.Ansible.Executor))
}

// prepareZygotes makes the pool of zygotes if a watch needs one.
func (e *engines) prepareZygotes(file watches.File) {
	var paths []string
	needed := false
	for _, w := range file.Watches {
		if w.Chart == "" && e.options.executor(w) == ansible.Warm {
			needed = true
			paths = append(paths, playPaths(w, e.options)...)
		}
	}
	if needed {
		e.zygotes = e.workspace.NewPool(e.aboutZygotes)
		e.preload = ansible.Collections(paths)
	}
}

// zygotesGrace is how long zygotes may take to end. All runs have ended before.
const zygotesGrace = 10 * time.Second

func (e *engines) closeZygotes() error {
	if e.zygotes == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), zygotesGrace)
	defer cancel()
	return e.zygotes.Close(ctx)
}

// countZygotes is for metrics.
func (e *engines) countZygotes() (count int, resident int64) {
	if e.zygotes == nil {
		return 0, 0
	}
	stats := e.zygotes.Stats()
	return stats.Zygotes, stats.Resident
}

// aboutZygotes puts down what the pool tells.
func (e *engines) aboutZygotes(n warm.Notice) {
	log := e.options.Log.WithName("warm")
	switch n.What {
	case warm.IsReady:
		e.measures.ZygoteStarted(true)
		log.Info("Playbooks can be run warm", "pid", n.PID, "took", n.Took.Round(time.Millisecond).String(), "with", n.Detail)
	case warm.StartFails:
		e.measures.ZygoteStarted(false)
		log.Info("Playbooks cannot be run warm", "reason", string(n.Reason), "error", fmt.Sprint(n.Err), "retryIn", n.Pause.String())
	case warm.Died:
		log.Info("A process that warm runs are forked from has died", "pid", n.PID, "after", n.Took.Round(time.Second).String(), "how", n.Detail)
	case warm.FellBack:
		log.Info("A run could not be warm and is direct; each reason is told once", "reason", string(n.Reason), "error", fmt.Sprint(n.Err))
	case warm.Retired:
		log.V(1).Info("A process that warm runs are forked from is replaced", "pid", n.PID, "why", n.Detail)
	}
}
