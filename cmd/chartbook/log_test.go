package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"os"
	"strings"
	"testing"

	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/chartbook-operator/chartbook/runner"
)

// logLine is what every line of the log has.
type logLine struct {
	Level, Logger, Msg, Error, Stacktrace string
}

func parse(t *testing.T, text string) []logLine {
	t.Helper()
	var parsed []logLine
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		var l logLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("this line is no JSON object (%v): %s", err, line)
		}
		parsed = append(parsed, l)
	}
	return parsed
}

// The old tools drop most of many lines with one message (AO 2.1), and plays have many tasks.
func TestNoLineIsDropped(t *testing.T) {
	var out bytes.Buffer
	l := newLog(zap.Options{TimeEncoder: zapcore.RFC3339TimeEncoder}, &out)
	for range 1000 {
		l.Info("Task", "task", "a\nb")
	}
	if n := len(parse(t, out.String())); n != 1000 {
		t.Errorf("%d of 1000 lines with the same message were written", n)
	}
}

func TestStackTraces(t *testing.T) {
	var out bytes.Buffer
	l := newLog(zap.Options{TimeEncoder: zapcore.RFC3339TimeEncoder}, &out)
	l.WithName("controller").Error(errors.New("no"), "A")
	l.WithName("runner").WithValues("kind", "A").Error(nil, "Run failed")
	l.WithName("runner").WithName("deeper").Error(nil, "Run failed")
	l.WithName("runners").Error(nil, "B")
	for i, want := range []bool{true, false, false, true} {
		if got := parse(t, out.String())[i]; (got.Stacktrace != "") != want || got.Level != "error" {
			t.Errorf("line %d is %+v, want a stack trace: %v", i, got, want)
		}
	}
}

// What libraries write on their own was plain text between lines of JSON (UP I2).
func TestLibrariesWriteIntoTheLog(t *testing.T) {
	t.Cleanup(func() { log.SetOutput(os.Stderr); log.SetFlags(log.LstdFlags); klog.ClearLogger() })
	var out bytes.Buffer
	adopt(newLog(zap.Options{TimeEncoder: zapcore.RFC3339TimeEncoder}, &out))
	log.Printf("http: TLS handshake error\nfrom %s", "somewhere")
	klog.Warningf("client %s", "warns")
	klog.ErrorS(errors.New("no"), "Cannot watch")
	ctrl.Log.WithName("cr").Info("hello")
	klog.Flush()
	want := []logLine{
		{Level: "info", Logger: "library", Msg: "http: TLS handshake error\nfrom somewhere"},
		{Level: "info", Logger: "client-go", Msg: "client warns"},
		{Level: "error", Logger: "client-go", Msg: "Cannot watch", Error: "no"},
		{Level: "info", Logger: "cr", Msg: "hello"},
	}
	for i, got := range parse(t, out.String()) {
		got.Stacktrace = ""
		if i >= len(want) || got != want[i] {
			t.Errorf("line %d is %+v", i, got)
		}
	}
}

// Levels by number, as AO 2.1 has them: each number lets one more level of detail through.
func TestLevelsByNumber(t *testing.T) {
	for _, c := range []struct {
		flag string
		want int // lines of levels 0 to 5
	}{{"error", 0}, {"info", 1}, {"debug", 2}, {"1", 2}, {"4", 5}, {"127", 6}} {
		flags := newRunCommand(runner.AnsibleOperator).Flags()
		if err := flags.Parse([]string{"--zap-log-level=" + c.flag}); err != nil {
			t.Fatal(err)
		}
		options := zap.Options{TimeEncoder: zapcore.RFC3339TimeEncoder}
		set := flag.NewFlagSet("zap", flag.ContinueOnError)
		options.BindFlags(set)
		if err := set.Parse([]string{"--zap-log-level=" + flags.Lookup("zap-log-level").Value.String()}); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		l := newLog(options, &out)
		for level := range 6 {
			l.V(level).Info("line")
		}
		if n := strings.Count(out.String(), "\n"); n != c.want {
			t.Errorf("with --zap-log-level=%s there are %d lines, want %d", c.flag, n, c.want)
		}
	}
}
