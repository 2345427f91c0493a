package ansible

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"k8s.io/utils/clock"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/ansible/warm"
	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// Config says what an [Engine] runs and how. Workspace and Main are required, the rest has defaults.
type Config struct {
	// Workspace is shared by all engines of this process.
	Workspace *Workspace
	// Main is what runs.
	Main Content
	// Finalizer runs in its place when a resource is deleted; the zero Content means Main.
	Finalizer Content
	// Facts are those that the play around a role gathers. Nil means all, or none where the environment variable
	// ANSIBLE_GATHERING is "explicit".
	Facts *Facts
	// Executor is how ansible-playbook is run. Default [Direct].
	Executor Executor
	// Zygotes is the pool that [Warm] needs, see [Workspace.NewPool]; engines share it.
	Zygotes *warm.Pool
	// Preload are names of collections that zygotes import ahead, like kubernetes.core; see [Collections].
	Preload []string
	// Verbosity is the number of v's given to ansible-playbook, unless the resource's annotation says otherwise.
	// Nil means 2.
	Verbosity *int
	// MaxArtifacts is how many runs' artifacts are kept per resource, unless the resource's annotation says
	// otherwise. Zero means 20, negative that only the workspace's budget counts.
	MaxArtifacts int
	// ExtraArgs are further arguments for ansible-playbook as a shell would split them.
	ExtraArgs string
	// RolesPath and CollectionsPath, if set, take the place of ANSIBLE_ROLES_PATH and ANSIBLE_COLLECTIONS_PATH.
	RolesPath, CollectionsPath string
	// Output, if set, returns a writer that gets what a run prints, while it prints it, with the job's secrets taken
	// out; nil for none. One that is an [io.Closer] is closed at the end of the run.
	Output func(engine.Job) io.Writer
	// Stop says how long a run may take to end once it is told to. Default as [process.Ladder].
	Stop process.Ladder

	// Environ returns the environment that runs inherit. Default [os.Environ].
	Environ func() []string
	// LookPath finds a program. Default [exec.LookPath].
	LookPath func(name string) (string, error)
	// Runner runs programs. Default [process.OS].
	Runner process.Runner
	// Clock is the time. Default the real one.
	Clock Clock
}

// Clock is what the engine needs of time.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) clock.Timer
}

const (
	defaultVerbosity    = 2
	defaultMaxArtifacts = 20
)

func (c Config) withDefaults() (Config, error) {
	if c.Workspace == nil {
		return c, errors.New("an ansible engine needs a workspace")
	}
	if err := c.Main.validate(); err != nil {
		return c, err
	}
	if c.Finalizer != (Content{}) {
		if err := c.Finalizer.validate(); err != nil {
			return c, fmt.Errorf("finalizer: %w", err)
		}
	}
	if c.Verbosity == nil {
		verbosity := defaultVerbosity
		c.Verbosity = &verbosity
	}
	if c.Executor == "" {
		c.Executor = Direct
	}
	if c.MaxArtifacts == 0 {
		c.MaxArtifacts = defaultMaxArtifacts
	}
	if c.Environ == nil {
		c.Environ = os.Environ
	}
	if c.LookPath == nil {
		c.LookPath = exec.LookPath
	}
	if c.Runner == nil {
		c.Runner = process.OS{}
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	return c, nil
}
