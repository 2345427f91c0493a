package proxy_test

import (
	"os"
	"testing"

	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/go-logr/logr"
)

func TestMain(m *testing.M) {
	ctrllog.SetLogger(logr.Discard()) // controller-runtime complains on stderr otherwise
	os.Exit(m.Run())
}
