package ansible

import (
	"encoding/json"
	"fmt"
	"os"
)

// Facts says what the play around a role finds out about its machine before the role runs.
type Facts struct {
	// Gather says whether it finds out anything.
	Gather bool
	// Subset are names that Ansible knows as gather_subset, like min or !all. Empty means all facts.
	Subset []string
}

// facts returns those that plays around roles gather: what the watch says, else all but where the environment leaves it
// to plays, as the old tool has it.
func (e *Engine) facts(env environment) Facts {
	if e.cfg.Facts != nil {
		return *e.cfg.Facts
	}
	return Facts{Gather: env["ANSIBLE_GATHERING"] != "explicit"}
}

// writeRolePlay writes a playbook that runs one role and returns its path.
func (d *runDir) writeRolePlay(role string, facts Facts) (string, error) {
	type play struct {
		Hosts        string   `json:"hosts"`
		GatherFacts  bool     `json:"gather_facts"`
		GatherSubset []string `json:"gather_subset,omitempty"`
		Roles        []string `json:"roles"`
	}
	// JSON is YAML whose strings need no thought about quoting.
	text, err := json.Marshal([]play{{
		Hosts: "localhost", GatherFacts: facts.Gather, GatherSubset: facts.Subset, Roles: []string{role},
	}})
	path := d.path("project", "playbook.yaml")
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("write the play around role %s: %w", role, err)
	}
	return path, nil
}
