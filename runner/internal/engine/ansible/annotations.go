package ansible

import (
	"fmt"
	"strconv"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Annotations of a resource that this engine reads.
const (
	annotationVerbosity    = "ansible.sdk.operatorframework.io/verbosity"
	annotationMaxArtifacts = "ansible.sdk.operatorframework.io/max-runner-artifacts"
)

// maxVerbosity is as far as Ansible's own plugins look, and a bit more.
const maxVerbosity = 7

// verbosity returns the number of v's for a run. An annotation that is no number is ignored.
func verbosity(annotations map[string]string, otherwise int) int {
	n := integer(annotations[annotationVerbosity], otherwise)
	return min(max(n, 0), maxVerbosity)
}

// keepArtifacts returns how many runs' artifacts are kept, the present one included; zero means all.
func keepArtifacts(annotations map[string]string, otherwise int) int {
	return max(integer(annotations[annotationMaxArtifacts], otherwise), 0)
}

func integer(text string, otherwise int) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return otherwise
}

// tellIgnored sends a note for each annotation that is no number, once for each resource and value.
func (e *Engine) tellIgnored(job engine.Job) {
	for _, name := range []string{annotationVerbosity, annotationMaxArtifacts} {
		value, set := job.Annotations[name]
		if _, err := strconv.Atoi(value); !set || err == nil || job.Progress == nil {
			continue
		}
		if !e.told.First(string(job.Owner.UID) + "\n" + resourcePath(job.Owner) + "\n" + name + "\n" + value) {
			continue
		}
		message := fmt.Sprintf("annotation %s is ignored, since %q is not an integer", name, shorten(value, maxValueText))
		job.Progress(engine.Event{Time: e.cfg.Clock.Now(), Kind: engine.EventNote, Message: redactor(job.Redact).text(message)})
	}
}

// maxValueText bounds, in bytes, what is repeated of a user's value.
const maxValueText = 40
