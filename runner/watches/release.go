package watches

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Upgrade is how a chart's release is upgraded.
type Upgrade struct {
	// Force makes objects anew that cannot be changed in place. Default false.
	Force bool `json:",omitempty"`
	// Remediation is what follows an upgrade that failed.
	Remediation Remediation `json:",omitzero"`
}

// Remediation is what follows an upgrade that failed.
type Remediation struct {
	// Retries is how often an upgrade to the same chart and values is tried again before it is given up. Nil means
	// [DefaultUpgradeRetries].
	Retries *int `json:",omitempty"`
	// Strategy is what happens when it is given up. Default [RemediateNone].
	Strategy Strategy `json:",omitempty"`
}

// DefaultUpgradeRetries is how often a failed upgrade is tried again where the watch does not say.
const DefaultUpgradeRetries = 4

// Strategy is what happens to a release whose upgrade is given up.
type Strategy string

// The strategies.
const (
	RemediateNone     Strategy = "none"     // it stays as the upgrade has left it
	RemediateRollback Strategy = "rollback" // it goes back to the last good revision, once
)

// Drift is what happens about differences between a chart's objects and what the chart says of them.
type Drift string

// What may happen.
const (
	DriftCorrect Drift = "correct" // they are put right
	DriftDetect  Drift = "detect"  // the condition Drifted names them
	DriftOff     Drift = "off"     // nobody looks
)

func upgradeKey() entryKey {
	return entryKey{KeyDoc: KeyDoc{Key: "upgrade", Type: "mapping", Default: "none", Content: forChart,
		Doc: "How a release is upgraded, and what follows a failure."},
		nested: []KeyDoc{
			{Key: "upgrade.force", Type: "boolean", Default: "false", Content: forChart,
				Doc: "Whether an object that cannot be changed in place is deleted and made anew; never one that holds data."},
			{Key: "upgrade.remediation", Type: "mapping", Default: "none", Content: forChart,
				Doc: "What follows an upgrade that failed."},
			{Key: "upgrade.remediation.retries", Type: "integer", Default: "4", Content: forChart,
				Doc: "How often an upgrade to the same chart and values is tried again; then the resource is Stalled until one of them changes or someone asks for a run."},
			{Key: "upgrade.remediation.strategy", Type: "none or rollback", Default: "none", Content: forChart,
				Doc: "What happens then: the release stays as it is, or goes back to the last good revision."},
		}, read: readUpgrade}
}

func readUpgrade(e *entry, n *yaml.Node, key string) {
	upgrade := &e.watch.Upgrade
	e.eachField(n, key, []string{"force", "remediation"}, func(name string, value *yaml.Node, path string) {
		if name == "remediation" {
			e.readRemediation(value, path)
		} else if force, ok := e.boolValue(value, path); ok {
			upgrade.Force = force
		}
	})
}

func (e *entry) readRemediation(n *yaml.Node, key string) {
	remediation := &e.watch.Upgrade.Remediation
	e.eachField(n, key, []string{"retries", "strategy"}, func(name string, value *yaml.Node, path string) {
		if name == "strategy" {
			remediation.Strategy = Strategy(e.oneOf(value, path, string(RemediateNone), string(RemediateRollback)))
			return
		}
		e.readCount(value, path, "write 0 for no repetition", &remediation.Retries)
	})
}

func readDrift(e *entry, n *yaml.Node, key string) {
	if value, err := scalar(follow(n)); err == nil && value == false { // what YAML 1.1 takes off for
		e.watch.Drift = DriftOff
		return
	}
	e.watch.Drift = Drift(e.oneOf(n, key, string(DriftCorrect), string(DriftDetect), string(DriftOff)))
}

// oneOf reads a text that is one of some words; empty if it is none of them, which is reported.
func (e *entry) oneOf(n *yaml.Node, key string, words ...string) string {
	value, ok := e.textValue(n, key)
	if slices.Contains(words, value) {
		return value
	}
	if ok && value != "" {
		last := len(words) - 1
		e.failf(n, key, "write "+strings.Join(words[:last], ", ")+" or "+words[last], "%s cannot be %q", key, value)
	}
	return ""
}
