package differential

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible"
)

// crowd is how many runs there are at once in the test of many.
const crowd = 12

// TestManyAtOnce: runs at the same time do not see each other's variables, modules, environment or temporary files.
func TestManyAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	l := <-newLanes(t)
	p := readProject(t, "testdata/crowd.txtar")
	l.empty(t, p)
	results := make([]engine.Result, crowd)
	var all sync.WaitGroup
	for i := range crowd {
		all.Go(func() {
			s := step{Playbook: "play.yml", Env: map[string]string{"K8S_AUTH_HOST": fmt.Sprint("host-", i)}}
			s.Inputs = map[string]any{"n": int64(i), "log": filepath.Join(l.path("remote"), fmt.Sprint("log-", i))}
			var stdout output
			job := l.job(s, surroundings{})
			job.Owner.Name = fmt.Sprint("owner-", i)
			var err error
			if results[i], err = l.engine(t, s, ansible.Executor(*against), &stdout).Run(t.Context(), job); err != nil {
				t.Error(err)
			}
			if !results[i].Outcome.OK() {
				t.Errorf("run %d: %+v\n%s", i, results[i], stdout.String())
			}
			if left := endProcesses(t, job.ID); len(left) > 0 {
				t.Errorf("run %d has left %v", i, left)
			}
		})
	}
	all.Wait()
	for i, result := range results {
		want := fmt.Sprintf("%d host-%d", i, i)
		for _, name := range []string{"play", "module", "command"} {
			if got := result.Outputs[name]; got != want {
				t.Errorf("run %d: the %s saw %v, want %s", i, name, got, want)
			}
		}
	}
}
