package status

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// Covers UP F7.
func TestMessage(t *testing.T) {
	hide := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	for name, c := range map[string]struct {
		reason string
		in     string
		want   string
	}{
		"Plain":   {"most messages", "disk full", "disk full"},
		"Lines":   {"several failures are several lines, as the old tool had them", "one\r\ntwo\n", "one\ntwo"},
		"Colours": {"ansible colours its output", "\x1b[0;31mfatal\x1b[0m: no", "fatal: no"},
		"Control": {"a terminal must not obey a message", "a\x00b\x07c\rd\te", "abcd\te"},
		"Invalid": {"JSON is UTF-8", "a\xff\xfeb", "a\uFFFDb"},
		"Secret":  {"secrets are taken out", "password hunter2 refused", "password *** refused"},
		"Long":    {"conditions are read by people", strings.Repeat("x", 5000), strings.Repeat("x", 1021) + "…"},
		"Wide":    {"no half characters", strings.Repeat("é", 600), strings.Repeat("é", 510) + "…"},
		"Border": {"a secret across the border is hidden, not cut in half",
			strings.Repeat("x", 1015) + "hunter2" + strings.Repeat("y", 100), strings.Repeat("x", 1015) + "***yyy…"},
		"Fits": {"exactly the limit is not cut", strings.Repeat("x", 1024), strings.Repeat("x", 1024)},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Message(c.in, hide)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func FuzzMessage(f *testing.F) {
	for _, seed := range []string{"", "disk full", "\x1b[31m", strings.Repeat("é", 600), "\xff", "a\x1b[0", "\u202e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Message(text, nil)
		if !utf8.ValidString(got) {
			t.Errorf("not valid UTF-8: %q", got)
		}
		if len(got) > 1024 {
			t.Errorf("%d bytes, want at most 1024", len(got))
		}
		if again := Message(got, nil); again != got {
			t.Errorf("a clean message changes from %q to %q", got, again)
		}
	})
}

func TestReasonOr(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		in     string
		want   string
	}{
		"Good":  {"authors choose reasons", "WaitingForSecret", "WaitingForSecret"},
		"Empty": {"none is chosen", "", "Fallback"},
		"Text":  {"a sentence is no reason", "not there yet", "Fallback"},
		"Long":  {"no bound, no reason", strings.Repeat("x", 200), "Fallback"},
		"Digit": {"the API's form starts with a letter", "1st", "Fallback"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reasonOr(c.in, "Fallback"); got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}
