package differential

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// against is the executor that is compared with direct. With direct itself, what differs is noise of this test.
var against = flag.String("against", "warm", "executor to compare with direct")

// thorough asks for what takes too long for every change: projects that are about what zygotes and forks have least to do with,
// and each setting alone beside those that are given together.
var thorough = flag.Bool("thorough", false, "leave nothing out")

// lanes is how many projects are run at a time.
const lanes = 2

func TestProjects(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	free := newLanes(t)
	projects := readProjects(t)
	var tasks taskIDs
	for _, p := range projects {
		if p.Thorough && !*thorough {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			l := <-free
			defer func() { free <- l }()
			l.compare(t, p, &tasks)
		})
	}
}

// compare runs a project by both executors and fails if they differ in more than they may. It returns what came of direct.
func (l *lane) compare(t *testing.T, p project, tasks *taskIDs) []record {
	t.Helper()
	one := l.runAll(t, p, ansible.Direct)
	other := l.runAll(t, p, ansible.Executor(*against))
	for i, s := range p.runs() {
		if want := fmt.Sprint(s.Code); one[i].code != want && !s.AnyCode {
			t.Errorf("run %d: the exit code of direct is %s, want %s\n%s\n%s", i+1, one[i].code, want, one[i].stdout, one[i].stderr)
		}
		if *against == string(ansible.Warm) {
			s.checkPath(t, i, other[i].result)
			if got, want := p.paths(other[i].result.Modules), p.paths(s.Modules); got != want && !s.AnyCode && s.Cancel == "" {
				t.Errorf("run %d: modules were executed %s, want %s", i+1, got, want)
			}
		}
		tasks.add(t, one[i].uuids)
		tasks.add(t, other[i].uuids)
	}
	p.judge(t, one, other)
	return one
}

// checkPath fails if a run was not a warm one, but for the reason that the project names: it would prove nothing.
func (s step) checkPath(t *testing.T, i int, result engine.Result) {
	t.Helper()
	executor := ansible.Warm
	if s.Falls != "" {
		executor = ansible.Direct
	}
	if result.Executor != string(executor) || result.Fallback != s.Falls {
		t.Errorf("run %d: was run by %s, reason %q, want %s, %q", i+1, result.Executor, result.Fallback, executor, s.Falls)
	}
}

// paths writes counts of modules as case.yml has them. How many there are depends on time where tasks are polled.
func (p project) paths(modules map[string]int) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		if slices.Contains(p.Differs, "polls?") {
			all = append(all, name+": 1")
		} else {
			all = append(all, fmt.Sprintf("%s: %d", name, modules[name]))
		}
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// runAll runs all steps of a project by one executor.
func (l *lane) runAll(t *testing.T, p project, executor ansible.Executor) (all []record) {
	t.Helper()
	l.empty(t, p)
	with := surround(t, p)
	for _, s := range p.runs() {
		all = append(all, l.run(t, s, executor, with))
	}
	return all
}

// judge compares what came out of the runs.
func (p project) judge(t *testing.T, one, other []record) {
	t.Helper()
	names, always := p.differs()
	for _, name := range always {
		rest := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
		if len(p.differ(one, other, rest)) == 0 {
			t.Errorf("the difference %q is not there any more: %s", name, allowed[name].why)
		}
	}
	found := p.differ(one, other, names)
	for _, section := range slices.Sorted(maps.Keys(found)) {
		t.Errorf("%s differs (-direct +%s):\n%s", section, *against, shorten(found[section]))
	}
}

// differs returns the names of the differences that may show, and of those that always do. Between two runs by direct there
// are only those that depend on time.
func (p project) differs() (names, always []string) {
	for _, name := range p.Differs {
		name, chance := strings.CutSuffix(name, "?")
		if chance || *against != string(ansible.Direct) {
			names = append(names, name)
		}
		if !chance && *against != string(ansible.Direct) {
			always = append(always, name)
		}
	}
	return names, always
}

// TestAllowedDifferences: what may differ is what some project shows and what users are told, and nothing else is named.
func TestAllowedDifferences(t *testing.T) {
	shown := map[string]bool{}
	for _, p := range readProjects(t) {
		for _, name := range p.Differs {
			shown[strings.TrimSuffix(name, "?")] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(allowed)), slices.Sorted(maps.Keys(shown))); diff != "" {
		t.Errorf("differences (-allowed +named by projects):\n%s", diff)
	}
	text, err := os.ReadFile(filepath.Join(testkit.RepoRoot(), "docs", "warm-ansible.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range allowed {
		if !strings.Contains(string(text), "\n| "+name+" | ") {
			t.Errorf("%q is not in the documentation", name)
		}
	}
}

// differ returns what differs but for some allowed differences.
func (p project) differ(one, other []record, forget []string) map[string]string {
	found := map[string]string{}
	for i := range one {
		a, b := one[i].without(forget), other[i].without(forget)
		for section, diff := range differences(a, b, p.Unordered) {
			found[fmt.Sprintf("run %d: %s", i+1, section)] = diff
		}
	}
	return found
}

// without returns a copy of the record that lacks what the named differences concern.
func (r record) without(names []string) record {
	r.events = slices.Clone(r.events)
	for i, event := range r.events {
		r.events[i] = eachText(event, func(text string) string { return text })
	}
	r.files = slices.Clone(r.files)
	r.result.Failures = slices.Clone(r.result.Failures)
	for _, name := range names {
		allowed[name].forget(&r)
	}
	return r
}

// shorten keeps the log of a test readable.
func shorten(diff string) string {
	const limit = 150
	lines := strings.Split(diff, "\n")
	if len(lines) > limit {
		lines = append(lines[:limit], "...")
	}
	return strings.Join(lines, "\n")
}

// taskIDs are the ids of all tasks that were ever run. Tools that collect events take them for unique.
type taskIDs struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (ids *taskIDs) add(t *testing.T, uuids []string) {
	t.Helper()
	if ids == nil {
		return
	}
	ids.mu.Lock()
	defer ids.mu.Unlock()
	if ids.seen == nil {
		ids.seen = map[string]bool{}
	}
	for _, uuid := range uuids {
		if ids.seen[uuid] {
			t.Errorf("task id %s was seen in another run", uuid)
		}
		ids.seen[uuid] = true
	}
}

// recorderDir is where the recording callback is.
func recorderDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("testdata/callback")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
