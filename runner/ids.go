package runner

import (
	"crypto/rand"
	"strings"
)

// runIDLength letters of five random bits each make ids that do not repeat in the life of a cluster.
const runIDLength = 13

// newRunID returns a new run id: lower-case letters and digits, short enough to type.
func newRunID() string { return strings.ToLower(rand.Text()[:runIDLength]) }
