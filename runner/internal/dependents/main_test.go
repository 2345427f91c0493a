package dependents_test

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // controller-runtime complains on stderr otherwise
	os.Exit(m.Run())
}
