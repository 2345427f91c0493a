package condition

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

func decoded(t testing.TB, text string) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestHolds(t *testing.T) {
	const old = `{"metadata": {"labels": {"app.kubernetes.io/tier": "web"}}, "spec": {"size": 3, "ports": [{"port": 80}]}}`
	tests := []struct {
		reason, expression, now string
		want                    bool
		wrong                   string // in the error
	}{
		{reason: "a value that grew", expression: "self.spec.size > oldSelf.spec.size", now: `{"spec": {"size": 4}}`, want: true},
		{reason: "a value that shrank", expression: "self.spec.size > oldSelf.spec.size", now: `{"spec": {"size": 2}}`},
		{reason: "numbers of two types", expression: "self.spec.size > 2", now: `{"spec": {"size": 2.5}}`, want: true},
		{reason: "whole parts", expression: "self.spec.ports != oldSelf.spec.ports", now: `{"spec": {"ports": [{"port": 80}]}}`},
		{reason: "something that may be missing", expression: "has(self.spec.paused) && self.spec.paused", now: `{"spec": {}}`},
		{reason: "the same as an optional value", expression: "self.?spec.?paused.orValue(true)", now: `{}`, want: true},
		{reason: "a label with a slash", expression: `oldSelf.metadata.labels["app.kubernetes.io/tier"] == "web"`, now: `{}`, want: true},
		{reason: "a list", expression: "self.spec.ports.exists(p, p.port == 81)", now: `{"spec": {"ports": [{"port": 80}, {"port": 81}]}}`, want: true},
		{reason: "a boolean of the resource itself", expression: "self.spec.on", now: `{"spec": {"on": true}}`, want: true},
		{reason: "a key that is not there is named, since the expression names it", expression: "self.spec.on", now: `{"spec": {}}`, wrong: "no such key: on"},
		{reason: "a text is no boolean", expression: "self.spec.on", now: `{"spec": {"on": "hunter2"}}`, wrong: "neither true nor false"},
		{reason: "a value is not told (the resource may be a Secret)", expression: "int(self.data.token) > 0", now: `{"data": {"token": "hunter2"}}`, wrong: "type conversion"},
		{reason: "nor is a key that the resource gave", expression: "self.data[self.data.token] == 1", now: `{"data": {"token": "hunter2"}}`, wrong: "no such key"},
		{reason: "comparing a text with a number", expression: "self.spec.size > 1", now: `{"spec": {"size": "hunter2"}}`, wrong: "no such overload"},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			c, err := Compile(tt.expression)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Holds(decoded(t, tt.now), decoded(t, old))
			if (err != nil) != (tt.wrong != "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("the error is %v, want one with %q", err, tt.wrong)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error holds a value of the resource: %v", err)
			}
			if got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func TestCompileErrors(t *testing.T) {
	tests := []struct {
		reason, expression, wrong string
		line, column              int
	}{
		{"no expression", "", "Syntax error", 1, 1},
		{"a mistake in the grammar", "self.spec.size >", "Syntax error", 1, 17},
		{"an unknown name", "self.spec.size > old.spec.size", "undeclared reference to 'old'", 1, 18},
		{"on another line", "self.spec.size > 1 &&\n  olf.x", "undeclared reference to 'olf'", 2, 3},
		{"a number", "1 + 1", "gives a int; it must be true or false", 0, 0},
		{"too long", strings.Repeat("true || ", 1000) + "true", "more than 4096 bytes", 0, 0},
		{"too deep", strings.Repeat("(", 100) + "true" + strings.Repeat(")", 100), "recursion", 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			_, err := Compile(tt.expression)
			var wrong *Error
			if !errors.As(err, &wrong) {
				t.Fatalf("the error is %v", err)
			}
			if !strings.Contains(wrong.Message, tt.wrong) || strings.Contains(wrong.Message, "\n") {
				t.Errorf("the error is %q, want one line with %q", wrong.Message, tt.wrong)
			}
			if tt.line != 0 && (wrong.Line != tt.line || wrong.Column != tt.column) {
				t.Errorf("the place is %d:%d, want %d:%d", wrong.Line, wrong.Column, tt.line, tt.column)
			}
		})
	}
}

// large is a resource with n ports and as many texts, about 70 bytes each.
func large(n int) map[string]any {
	var ports []any
	for i := range n {
		ports = append(ports, map[string]any{"port": int64(i), "name": fmt.Sprintf("port-%040d", i)})
	}
	return map[string]any{"spec": map[string]any{"size": int64(n), "ports": ports}}
}

func TestCostIsLimited(t *testing.T) {
	c, err := Compile("self.spec.ports.all(a, self.spec.ports.all(b, self.spec.ports.all(c, a.port + b.port + c.port >= 0)))")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := c.Holds(large(1000), large(1000)); !errors.Is(err, errCost) {
		t.Errorf("a billion steps give %v", err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("the limit came after %s", took)
	}
}

func TestConcurrentUse(t *testing.T) {
	c, err := Compile("self.spec.size == oldSelf.spec.size")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 100 {
				if same, err := c.Holds(large(i), large(3)); err != nil || same != (i == 3) {
					t.Errorf("%d: %v, %v", i, same, err)
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkHolds(b *testing.B) {
	c, err := Compile("self.spec.size > oldSelf.spec.size || self.spec.ports.size() > 200")
	if err != nil {
		b.Fatal(err)
	}
	self, oldSelf := large(150), large(149)
	for b.Loop() {
		if _, err := c.Holds(self, oldSelf); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzCompile checks that no text brings the compiler down, and that errors have words.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{"self.spec.size > oldSelf.spec.size", "self.?a.orValue(1) == 1", "[1].map(x, x)", `"\x"`, "self[", "{}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Compile(text)
		if err != nil {
			if err.Error() == "" {
				t.Error("the error has no words")
			}
			return
		}
		_, _ = c.Holds(large(1), large(2))
	})
}
