package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"

	"github.com/chartbook-operator/chartbook/runner/internal/controller"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible/warm"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/helm"
	"github.com/chartbook-operator/chartbook/runner/internal/fingerprint"
	"github.com/chartbook-operator/chartbook/runner/internal/input"
	"github.com/chartbook-operator/chartbook/runner/internal/observe"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// Finalizers of releases: the first is put on resources, the second is helm-operator-plugins' and only taken off.
var releaseFinalizers = []string{"helm.sdk.operatorframework.io/uninstall-release", "uninstall-helm-release"}

// engines makes the engine of each watch; what engines of one kind share is made once.
type engines struct {
	options      Options
	mapper       meta.RESTMapper
	workspace    *ansible.Workspace // nil when no watch needs it
	zygotes      *warm.Pool         // the same
	preload      []string           // collections for zygotes
	measures     *observe.Metrics   // set before the first engine is made
	records      *records           // nil when runs cannot be recorded
	capabilities *helm.Capabilities
	releases     *helm.Records // nil without charts
}

func newEngines(o Options, mapper meta.RESTMapper, file watches.File) (*engines, error) {
	e := &engines{options: o, mapper: mapper, capabilities: helm.NewCapabilities(clock.RealClock{})}
	for _, w := range file.Watches {
		if w.Chart != "" {
			if err := e.followReleases(); err != nil {
				return nil, err
			}
		}
		if w.Chart != "" || e.workspace != nil {
			continue
		}
		workspace, err := ansible.OpenWorkspace(o.Ansible.PrivateDir, o.Ansible.ArtifactsMaxBytes-recordBytes(o.Ansible.ArtifactsMaxBytes))
		if err != nil {
			return nil, fmt.Errorf("prepare for playbooks: %w", err)
		}
		e.workspace = workspace
	}
	e.prepareZygotes(file)
	e.records = openRecords(o, e.workspace, time.Now())
	return e, nil
}

// followReleases prepares to see what others do to releases.
func (e *engines) followReleases() error {
	if e.releases != nil {
		return nil
	}
	releases, err := helm.NewRecords(e.options.RESTConfig, e.options.Namespaces, e.options.Log.WithName("releases"))
	e.releases = releases
	return err
}

func (e *engines) close() error {
	err := errors.Join(e.records.close(), e.closeZygotes())
	if e.workspace != nil {
		err = errors.Join(err, e.workspace.Close())
	}
	return err
}

// configure fills in what the kind of content decides.
func (e *engines) configure(w watches.Watch, c *controller.Config) error {
	if e.records != nil {
		c.Journal = e.records.journal
	}
	if w.Chart != "" {
		return e.chart(w, c)
	}
	return e.play(w, c)
}

func (e *engines) play(w watches.Watch, c *controller.Config) error {
	config := ansible.Config{
		Workspace:       e.workspace,
		Main:            ansible.Content{Playbook: w.Playbook, Role: w.Role, RoleName: w.RoleName},
		Executor:        e.options.executor(w),
		Zygotes:         e.zygotes,
		Preload:         e.preload,
		Verbosity:       w.AnsibleVerbosity,
		MaxArtifacts:    w.MaxRunnerArtifacts,
		ExtraArgs:       e.options.Ansible.Args,
		RolesPath:       e.options.Ansible.RolesPath,
		CollectionsPath: e.options.Ansible.CollectionsPath,
	}
	if e.options.Ansible.DebugLogs {
		config.Output = e.playOutput
	}
	if w.GatherFacts != nil {
		config.Facts = (*ansible.Facts)(w.GatherFacts)
	}
	if config.Verbosity == nil {
		config.Verbosity = &e.options.Ansible.Verbosity
	}
	if f := w.Finalizer; f != nil {
		config.Finalizer = ansible.Content{Playbook: f.Playbook, Role: f.Role, RoleName: f.RoleName}
		c.Finalizers = finalizersOf(w)
	}
	if w.Playbook != "" {
		config.Main.Role, config.Main.RoleName = "", ""
	}
	made, err := ansible.New(config)
	if err != nil {
		return fmt.Errorf("%s: %w", w.Position, err)
	}
	made.Ahead(w.Env)
	c.Engine, c.Tool, c.Executor = made, status.AnsibleOperator, string(config.Executor)
	c.Defaults.Period = periodOr(e.options.ReconcilePeriod, ansiblePeriod)
	c.Forget = e.workspace.Forget
	c.Fingerprint = e.fingerprint(w, playPaths(w, e.options)...)
	c.Inputs = func(obj map[string]any, run input.Run) (map[string]any, error) { return input.ExtraVars(obj, w, run) }
	return nil
}

// fingerprint returns what tells whether the operator, the watch or files at paths have changed.
func (e *engines) fingerprint(w watches.Watch, paths ...string) func() string {
	w.Position = watches.Position{} // where the entry stands says nothing
	text, err := json.Marshal(w)    //nolint:musttag // nobody reads it
	if err != nil {
		text = nil // not reached: it was decoded from YAML that JSON can hold
	}
	salt := fmt.Sprint(e.options.Version, e.options.Commit, string(text))
	return func() string { return fingerprint.Of(salt, paths...) }
}

// playPaths are the files that a play may be made of, as far as they can be told: those beside the playbook or role, the
// finalizer's, and where roles and collections are looked for.
func playPaths(w watches.Watch, o Options) []string {
	var paths []string
	for _, file := range []string{w.Playbook, w.Role} {
		if file != "" {
			paths = append(paths, filepath.Dir(file))
		}
	}
	if f := w.Finalizer; f != nil {
		for _, file := range []string{f.Playbook, f.Role} {
			if file != "" {
				paths = append(paths, filepath.Dir(file))
			}
		}
	}
	for _, list := range []string{o.Ansible.RolesPath, o.Ansible.CollectionsPath, os.Getenv("ANSIBLE_ROLES_PATH"), os.Getenv("ANSIBLE_COLLECTIONS_PATH")} {
		paths = append(paths, filepath.SplitList(list)...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func periodOr(period *time.Duration, byDefault time.Duration) time.Duration {
	if period != nil {
		return *period
	}
	return byDefault
}
