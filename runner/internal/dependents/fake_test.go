package dependents

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var secretGVK = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// begin starts a registry that ends with the test.
func begin(t *testing.T, registry *Registry) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := registry.Start(ctx); err != nil {
			t.Errorf("Start: %v", err)
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
}

func heapAfterGC() int64 {
	runtime.GC()
	runtime.GC()
	return heapNow()
}

// lineSink is a log that tells when a line comes by.
type lineSink struct {
	want  string
	found chan<- struct{}
}

func (s lineSink) Init(logr.RuntimeInfo)          {}
func (s lineSink) Enabled(int) bool               { return true }
func (s lineSink) Error(error, string, ...any)    {}
func (s lineSink) WithValues(...any) logr.LogSink { return s }
func (s lineSink) WithName(string) logr.LogSink   { return s }
func (s lineSink) Info(_ int, message string, _ ...any) {
	if strings.Contains(message, s.want) {
		notify(s.found)
	}
}
