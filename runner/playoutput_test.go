package runner

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// TestPlayOutput: ANSIBLE_DEBUG_LOGS shows all that a play prints, as entries of the log that name the run.
// Covers UP I1.
func TestPlayOutput(t *testing.T) {
	long := strings.Repeat("x", maxOutputEntry+1)
	tests := []struct {
		why    string
		writes []string
		lines  []string
	}{
		{"nothing printed, nothing logged", nil, nil},
		{"lines come in any pieces", []string{"a\nb", "c\r\n\n", "d"}, []string{"a", "bc", "", "d"}},
		{"a long line is cut rather than kept in memory", []string{long + "\nb\n"}, []string{long[:maxOutputEntry], "x", "b"}},
	}
	for _, tt := range tests {
		var got []string
		log := funcr.NewJSON(func(text string) {
			var entry struct {
				Run, Kind, Namespace, Name, Msg string
				Lines                           []string
			}
			if err := json.Unmarshal([]byte(text), &entry); err != nil || entry.Run != "r1" || entry.Kind != "Sample" || entry.Name != "one" {
				t.Errorf("%s: entry is %s, error %v", tt.why, text, err)
			}
			got = append(got, entry.Lines...)
		}, funcr.Options{})
		out := outputOf(log)
		for _, text := range tt.writes {
			_, _ = io.WriteString(out, text)
		}
		if err := out.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(tt.lines, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestPlayOutputIsNotSampled: the log leaves out equal messages beyond 100 in a second.
func TestPlayOutputIsNotSampled(t *testing.T) {
	entries, lines := 0, 0
	out := outputOf(funcr.New(func(_, args string) {
		entries++
		lines += strings.Count(args, "a line of output")
	}, funcr.Options{}))
	for i := range 5000 {
		_, _ = fmt.Fprintf(out, "a line of output %d\n", i)
	}
	_ = out.(io.Closer).Close()
	if lines != 5000 || entries > 100 {
		t.Errorf("%d lines in %d entries", lines, entries)
	}
}

func outputOf(log logr.Logger) io.Writer {
	e := &engines{options: Options{Log: log}}
	return e.playOutput(engine.Job{ID: "r1", Owner: engine.Owner{Kind: "Sample", Namespace: "default", Name: "one"}})
}
