package main

import (
	"slices"

	"github.com/go-logr/logr"
)

// noise are lines of controller-runtime that say nothing to whoever runs the operator: the address of a function, and
// that a probe failed, of which the runner logs the cause when it changes.
var noise = []string{"Starting EventSource", "healthz check failed"}

// quiet makes debug lines of the noise.
func quiet(log logr.Logger) logr.Logger {
	if log.GetSink() == nil {
		return log
	}
	return log.WithSink(quietSink{log.GetSink()})
}

type quietSink struct{ logr.LogSink }

// Init implements [logr.LogSink]. The sink inside has been initialized already.
func (quietSink) Init(logr.RuntimeInfo) {}

// Info implements [logr.LogSink].
func (s quietSink) Info(level int, msg string, keysAndValues ...any) {
	if slices.Contains(noise, msg) {
		level = max(level, 1)
		if !s.Enabled(level) {
			return
		}
	}
	s.LogSink.Info(level, msg, keysAndValues...)
}

// WithValues implements [logr.LogSink].
func (s quietSink) WithValues(keysAndValues ...any) logr.LogSink {
	return quietSink{s.LogSink.WithValues(keysAndValues...)}
}

// WithName implements [logr.LogSink].
func (s quietSink) WithName(name string) logr.LogSink { return quietSink{s.LogSink.WithName(name)} }
