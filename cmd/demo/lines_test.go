package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLineWriter(t *testing.T) {
	tests := map[string]struct {
		reason string
		writes []string
		want   []string
	}{
		"Whole":  {reason: "one write, two lines", writes: []string{"a\nb\n"}, want: []string{"a", "b"}},
		"Pieces": {reason: "writes end where they like", writes: []string{"a", "b\n", "\nc"}, want: []string{"ab", ""}},
		"Long":   {reason: "memory is bounded", writes: []string{strings.Repeat("x", maxLine), "more\n", "b\n"}, want: []string{strings.Repeat("x", maxLine), "b"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			w := &lineWriter{line: func(line string) { got = append(got, line) }}
			for _, text := range test.writes {
				fmt.Fprint(w, text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestFollowGivesLinesThatComeLater(t *testing.T) {
	path := writeLog(t, "first")
	lines := make(chan string, 10)
	if err := follow(t.Context(), path, func(line string) { lines <- line }); err != nil {
		t.Fatal(err)
	}
	if got := <-lines; got != "first" {
		t.Errorf("got %q, want what was there before", got)
	}
	appendTo(t, path, "second\n")
	if got := <-lines; got != "second" {
		t.Errorf("got %q, want what came later", got)
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}
