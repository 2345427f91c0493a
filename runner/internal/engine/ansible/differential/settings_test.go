package differential

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible"
)

// setting is one of Ansible's settings, most of which are read once, when ansible-core is imported.
type setting struct {
	Name string            `json:"name"`
	Env  map[string]string `json:"env"` // how the environment gives it
	// Ini is how a configuration file gives it, by section and key.
	Ini map[string]map[string]any `json:"ini"`
	// Group is the number of settings that do not hide each other and are given together; zero if it is given alone only.
	Group int `json:"group"`
	// Play, Args and Verbosity say what shows it.
	Play      string `json:"play"`
	Args      string `json:"args"`
	Verbosity *int   `json:"verbosity"`
	// Blind settings are those that the engine sets itself, or that show nothing.
	Blind bool `json:"blind"`
	// Falls is why a run with the setting is a direct one; empty if it is warm.
	Falls string `json:"falls"`
}

func (s setting) step(env map[string]string) step {
	return step{Playbook: s.Play, Args: s.Args, Verbosity: s.Verbosity, Env: env, Falls: s.Falls}
}

// readSettings returns the project and the settings that it shows.
func readSettings(t *testing.T) (project, []setting) {
	t.Helper()
	p := readProject(t, "testdata/settings.txtar")
	var list struct {
		Settings []setting `json:"settings"`
	}
	for _, file := range p.files {
		if file.Name != "settings.yml" {
			continue
		}
		if err := yaml.UnmarshalStrict(file.Data, &list); err != nil {
			t.Fatal(err)
		}
	}
	for i := range list.Settings {
		if list.Settings[i].Play == "" {
			list.Settings[i].Play = "play.yml"
		}
	}
	return p, list.Settings
}

func TestSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	free := newLanes(t)
	p, settings := readSettings(t)
	compare := func(name string, one project) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := <-free
			defer func() { free <- l }()
			l.compare(t, one, nil)
		})
	}
	for group, together := range groups(settings) {
		if len(together) == 1 && !*thorough {
			continue
		}
		if file := configuration(together); len(file.Data) > 0 {
			one := p.with(together[0].step(map[string]string{"ANSIBLE_CONFIG": "{content}/ansible.cfg"}))
			one.files = append(slices.Clone(one.files), file)
			compare(fmt.Sprint("file/", group), one)
		}
		if len(together) > 1 {
			compare(fmt.Sprint("environment/", group), p.with(together[0].step(environment(together))))
		}
	}
}

// TestEachSetting also fails if a setting shows nothing, which would prove nothing.
func TestEachSetting(t *testing.T) {
	if !*thorough {
		t.Skip("takes minutes; -thorough asks for it")
	}
	free := newLanes(t)
	p, settings := readSettings(t)
	var without baselines
	for _, s := range settings {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			l := <-free
			defer func() { free <- l }()
			direct := l.compare(t, p.with(s.step(s.Env)), nil)
			if !s.Blind && len(differences(direct[0], without.of(t, l, p.with(s.step(nil))), false)) == 0 {
				t.Error("the setting shows nothing")
			}
		})
	}
}

// with returns the project with one run.
func (p project) with(s step) project {
	p.step, p.AnyCode = s, true
	p.Unordered = s.Playbook == "hosts.yml"
	return p
}

// baselines are what the plays come to without any settings.
type baselines struct {
	mu    sync.Mutex
	known map[string]record
}

func (b *baselines) of(t *testing.T, l *lane, p project) record {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	key := fmt.Sprint(p.Playbook, p.Args, p.Verbosity != nil)
	if r, known := b.known[key]; known {
		return r
	}
	if b.known == nil {
		b.known = map[string]record{}
	}
	b.known[key] = l.runAll(t, p, ansible.Direct)[0]
	return b.known[key]
}

// groups returns the settings that are given together.
func groups(settings []setting) map[int][]setting {
	found := map[int][]setting{}
	for _, s := range settings {
		if s.Group != 0 {
			found[s.Group] = append(found[s.Group], s)
		}
	}
	return found
}

// environment is what gives settings.
func environment(settings []setting) map[string]string {
	env := map[string]string{}
	for _, s := range settings {
		maps.Copy(env, s.Env)
	}
	return env
}

// configuration is the file that gives settings; empty if none can be given in that way.
func configuration(settings []setting) file {
	sections := map[string][]string{}
	for _, s := range settings {
		for section, keys := range s.Ini {
			for key, value := range keys {
				sections[section] = append(sections[section], fmt.Sprintf("%s = %v", key, value))
			}
		}
	}
	var text strings.Builder
	for section, lines := range sections {
		slices.Sort(lines)
		fmt.Fprintf(&text, "[%s]\n%s\n", section, strings.Join(slices.Compact(lines), "\n"))
	}
	return file{Name: "ansible.cfg", Data: []byte(text.String())}
}

// TestConfigurationFiles: a file that appears, changes or goes away while the operator runs counts from the next run on.
func TestConfigurationFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	free := newLanes(t)
	l := <-free
	p, _ := readSettings(t)
	s := step{Playbook: "play.yml", AnyCode: true}
	turns := []struct{ what, text string }{
		{"no file", ""},
		{"one that appears", "[defaults]\nforks = 3\n"},
		{"one that has changed", "[defaults]\nforks = 4\n"},
		{"one that has gone", ""},
	}
	records := map[ansible.Executor][]record{}
	for _, executor := range []ansible.Executor{ansible.Direct, ansible.Executor(*against)} {
		l.empty(t, p)
		path := filepath.Join(l.path("home"), ".ansible.cfg")
		for _, turn := range turns {
			if turn.text == "" {
				_ = os.Remove(path)
			} else if err := os.WriteFile(path, []byte(turn.text), 0o600); err != nil {
				t.Fatal(err)
			}
			records[executor] = append(records[executor], l.run(t, s, executor, surroundings{}))
		}
	}
	direct, other := records[ansible.Direct], records[ansible.Executor(*against)]
	for i, turn := range turns {
		for section, diff := range differences(direct[i], other[i], false) {
			t.Errorf("%s: %s differs:\n%s", turn.what, section, shorten(diff))
		}
		if i > 0 && len(differences(direct[i], direct[i-1], false)) == 0 {
			t.Errorf("%s: shows nothing", turn.what)
		}
	}
}
