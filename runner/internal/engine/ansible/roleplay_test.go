package ansible

import (
	"os"
	"testing"
)

// TestFactsOfRoles: a watch may narrow what the play around a role gathers, whatever the environment says.
func TestFactsOfRoles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		facts  *Facts
		env    string
		gained string // which of system (always gathered) and processor (of the hardware) there are
	}{
		{"none, as the environment says", nil, "ANSIBLE_GATHERING=explicit", ""},
		{"none, as the watch says", &Facts{}, "ANSIBLE_GATHERING=smart", ""},
		{"all, as the watch says", &Facts{Gather: true}, "ANSIBLE_GATHERING=explicit", "system processor"},
		{"the least", &Facts{Gather: true, Subset: []string{"min"}}, "ANSIBLE_GATHERING=explicit", "system"},
		{"all but all", &Facts{Gather: true, Subset: []string{"!all"}}, "ANSIBLE_GATHERING=smart", "system"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.file("roles/app/tasks/main.yml",
				"- set_stats: {data: {gained: '{{ [\"system\", \"processor\"] | select(\"in\", ansible_facts) | join(\" \") }}'}}\n")
			b.configure = func(cfg *Config) {
				cfg.Facts = tt.facts
				cfg.Environ = func() []string { return append(os.Environ(), tt.env) }
			}
			got := b.run(b.engine(Content{Role: b.content + "/roles/app", RoleName: "app"}), newJob())
			if !got.Outcome.OK() || got.Outputs["gained"] != tt.gained {
				t.Errorf("gained %q, want %q: %+v", got.Outputs["gained"], tt.gained, got)
			}
		})
	}
}
