package ansible

import "strconv"

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
