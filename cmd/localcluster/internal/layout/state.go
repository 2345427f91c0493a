package layout

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/procs"
)

// Phase is where a cluster stands.
type Phase string

// The phases of a cluster. One that ends removes its state file instead of writing a last phase.
const (
	Starting Phase = "starting"
	Ready    Phase = "ready"
	Failed   Phase = "failed"
)

// Status is the content of the state file: what runs, where it listens, and how it is going.
type Status struct {
	Phase      Phase          `json:"phase"`
	Error      string         `json:"error,omitempty"`
	Server     string         `json:"server"`
	Ports      map[string]int `json:"ports"`
	Nodes      int            `json:"nodes"`
	Started    time.Time      `json:"started"`
	Supervisor procs.ID       `json:"supervisor"`
	Components []Component    `json:"components"`
}

// Component is one child process of the supervisor.
type Component struct {
	procs.ID
	Name     string    `json:"name"`
	Started  time.Time `json:"started"`
	Restarts int       `json:"restarts"`
	LastExit string    `json:"lastExit,omitempty"`
}

// Component finds a component by its name.
func (s Status) Component(name string) (Component, bool) {
	for _, c := range s.Components {
		if c.Name == name {
			return c, true
		}
	}
	return Component{}, false
}

// Children are the ids of all components.
func (s Status) Children() []procs.ID {
	ids := make([]procs.ID, 0, len(s.Components))
	for _, c := range s.Components {
		ids = append(ids, c.ID)
	}
	return ids
}

// ReadStatus reads the state file; its absence is fs.ErrNotExist.
func ReadStatus(d Dir) (Status, error) {
	raw, err := os.ReadFile(d.Path(State))
	if err != nil {
		return Status{}, fmt.Errorf("cannot read the state of the cluster: %w", err)
	}
	var s Status
	if err := json.Unmarshal(raw, &s); err != nil {
		return Status{}, fmt.Errorf("the state file %s is damaged: %w", d.Path(State), err)
	}
	return s, nil
}

// WriteStatus replaces the state file in one step, so that a reader never sees half of it.
func WriteStatus(d Dir, s Status) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot encode the state of the cluster: %w", err)
	}
	return WriteFile(d, stateTemp, State, append(raw, '\n'))
}

// WriteFile writes a private file by way of a temporary one and a rename.
func WriteFile(d Dir, temp, name string, content []byte) error {
	if err := os.WriteFile(d.Path(temp), content, 0o600); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	if err := os.Rename(d.Path(temp), d.Path(name)); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return nil
}
