package main

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
)

func TestQuiet(t *testing.T) {
	var lines []string
	write := func(_, line string) { lines = append(lines, line) }
	log := quiet(funcr.New(write, funcr.Options{})).WithName("a").WithValues("b", "c")
	for _, noisy := range noise {
		log.Info(noisy, "source", "func source: 0x1")
	}
	log.Info("Watching a kind")
	log.Error(nil, "healthz check failed") // an error is never noise
	if text := strings.Join(lines, "\n"); len(lines) != 2 || !strings.Contains(text, "Watching a kind") || !strings.Contains(text, `"b"="c"`) {
		t.Errorf("logged:\n%s", text)
	}
	lines = nil
	quiet(funcr.New(write, funcr.Options{Verbosity: 1})).Info(noise[0])
	if len(lines) != 1 {
		t.Errorf("with debug lines logged: %q", lines)
	}
}
