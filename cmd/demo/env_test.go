package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOperatorEnv(t *testing.T) {
	got := operatorEnv([]string{"PATH=/bin", "KUBECONFIG=other", "WATCH_NAMESPACE=", "NO_PROXY=.corp", "HTTP_PROXY=http://proxy", "OPERATOR_NAME=x"},
		"http://127.0.0.1:1", "ns", "/somewhere")
	want := []string{
		"PATH=/bin", "HTTP_PROXY=http://proxy",
		"EXTERNAL_STORE_URL=http://127.0.0.1:1/store",
		"NO_PROXY=.corp,127.0.0.1,localhost",
		"TMPDIR=/somewhere",
		"TRAINING_API_URL=http://127.0.0.1:1/training",
		"WATCH_NAMESPACE=ns",
		"no_proxy=127.0.0.1,localhost",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment of the operator (-want +got):\n%s", diff)
	}
}
