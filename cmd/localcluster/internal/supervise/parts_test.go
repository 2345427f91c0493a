package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
)

func TestLogNeverGrowsBeyondItsBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	log, err := OpenLog(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if _, err := fmt.Fprintf(log, "line %02d of a log\n", i); err != nil {
			t.Fatal(err)
		}
	}
	log.Close()
	for _, name := range []string{path, path + ".old"} {
		if info, err := os.Stat(name); err != nil || info.Size() > 100 || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if tail := Tail(path, 2); !slices.Equal(tail, []string{"line 48 of a log", "line 49 of a log"}) {
		t.Errorf("the log ends with %q", tail)
	}
	if n, err := log.Write([]byte("late")); n != 4 || err != nil {
		t.Errorf("writing to a closed log: %d, %v; a component must not fail because of it", n, err)
	}
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	for content, want := range map[string][]string{
		"":            nil,
		"one":         {"one"},
		"one\ntwo\n":  {"one", "two"},
		"1\n2\n3\n\n": {"2", "3"},
		strings.Repeat("long ", 10_000) + "\nend\n": nil, // checked below
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got := Tail(path, 2)
		if len(content) > 1000 {
			if got[len(got)-1] != "end" {
				t.Errorf("a long log ends with %q", got)
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("Tail of %q = %q, want %q", content, got, want)
		}
	}
	if got := Tail(path+".missing", 2); got != nil {
		t.Errorf("a missing log ends with %q", got)
	}
}

func TestAReservedPortIsRefusedToOthersAndOpenToTheComponent(t *testing.T) {
	r, err := Reserve(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	address := net.JoinHostPort(plan.Host, strconv.Itoa(r.Port))
	if other, err := net.Listen("tcp4", address); err == nil {
		_ = other.Close()
		t.Error("a stranger got the port")
	}
	if _, err := Reserve(t.Context(), r.Port); !errors.Is(err, ErrPortTaken) {
		t.Errorf("a second cluster got %v, want ErrPortTaken", err)
	}
	if conn, err := net.Dial("tcp4", address); err == nil {
		_ = conn.Close()
		t.Error("something answers although nobody listens")
	}
	share := func(_, _ string, c syscall.RawConn) (err error) {
		_ = c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
		return err
	}
	component, err := (&net.ListenConfig{Control: share}).Listen(t.Context(), "tcp4", address)
	if err != nil {
		t.Fatalf("the component did not get the port: %v", err)
	}
	defer func() { _ = component.Close() }()
	conn, err := net.Dial("tcp4", address)
	if err != nil {
		t.Fatalf("nobody answers: %v", err)
	}
	_ = conn.Close()
}

func TestATakenPortNamesItsHolder(t *testing.T) {
	listener, err := net.Listen("tcp4", plan.Host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, err = Reserve(t.Context(), listener.Addr().(*net.TCPAddr).Port)
	if !errors.Is(err, ErrPortTaken) || !strings.Contains(err.Error(), fmt.Sprintf("process %d ", os.Getpid())) ||
		!strings.Contains(err.Error(), "--port") {
		t.Errorf("got %v; want the port, its holder and what to do", err)
	}
}

func TestEvents(t *testing.T) {
	for _, row := range []struct {
		why    string
		events []Event
		told   bool
		seen   int
	}{
		{"readiness ends the report", []Event{{Step: "a"}, {Ready: true}, {Step: "b"}}, true, 2},
		{"an error ends it too", []Event{{Error: "x"}}, true, 1},
		{"a supervisor that dies says nothing", []Event{{Step: "a"}}, false, 1},
	} {
		var pipe bytes.Buffer
		report := Reporter(&pipe)
		for _, e := range row.events {
			report(e)
		}
		seen := 0
		if told := ReadEvents(&pipe, func(Event) { seen++ }); told != row.told || seen != row.seen {
			t.Errorf("%s: told %t after %d events", row.why, told, seen)
		}
	}
}

func TestReporterSurvivesAListenerThatLeft(*testing.T) {
	reader, writer := io.Pipe()
	_ = reader.Close()
	Reporter(writer)(Event{Ready: true})
}

func TestStagesCoverWhatIsPromised(t *testing.T) {
	text := stages()
	for _, name := range []string{"node-initialize", "pod-ready", "pod-complete", "pod-delete", "claim-provision", "volume-delete"} {
		if !strings.Contains(text, "name: "+name+"\n") {
			t.Errorf("there is no stage %s", name)
		}
	}
}

func TestSecretsAreWhatThePlanNames(t *testing.T) {
	s, err := newSecrets(fixedTime)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{plan.Stages: true}
	for name := range s.files {
		have[plan.Cert(name)], have[plan.Key(name)] = true, true
	}
	for name := range s.users {
		have[plan.Config(name)] = true
	}
	for _, c := range append(plan.Store(plan.Ports{}), plan.Controllers()...) {
		for _, arg := range c.Args {
			_, value, _ := strings.Cut(arg, "=")
			if strings.Contains(value, "/") && !strings.Contains(value, "://") && !strings.HasPrefix(value, "10.") && !have[value] {
				t.Errorf("%s needs %s, which nobody writes", c.Name, value)
			}
		}
	}
}
