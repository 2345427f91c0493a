package procs

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeProcess is one entry of a made-up /proc.
type fakeProcess struct {
	pid     int
	name    string
	state   string
	start   uint64
	command []string
}

func (p fakeProcess) write(t *testing.T, root string) {
	t.Helper()
	dir := filepath.Join(root, strconv.Itoa(p.pid))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	stat := fmt.Sprintf("%d (%s) %s 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0 0", p.pid, p.name, p.state, p.start)
	for name, content := range map[string]string{"stat": stat, "cmdline": strings.Join(p.command, "\x00") + "\x00"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSignalHitsOnlyOurs(t *testing.T) {
	ours := fakeProcess{pid: 7, name: "localcluster", state: "S", start: 100, command: []string{"localcluster", "component", "etcd", "/d"}}
	for _, row := range []struct {
		why    string
		change func(*fakeProcess)
		want   bool
	}{
		{"id, start time and directory agree", func(*fakeProcess) {}, true},
		{"a name with spaces and parentheses must not shift the fields", func(p *fakeProcess) { p.name = "a) S (b" }, true},
		{"the flag of a supervisor carries the directory too", func(p *fakeProcess) { p.command = []string{"localcluster", "supervise", "--dir=/d"} }, true},
		{"the kernel gave the id to a later process", func(p *fakeProcess) { p.start = 101 }, false},
		{"the process belongs to another cluster", func(p *fakeProcess) { p.command[3] = "/other" }, false},
		{"a longer path only begins like ours", func(p *fakeProcess) { p.command[3] = "/d2" }, false},
		{"a zombie has ended", func(p *fakeProcess) { p.state = "Z" }, false},
	} {
		t.Run(row.why, func(t *testing.T) {
			process := ours
			process.command = append([]string(nil), ours.command...)
			row.change(&process)
			root := t.TempDir()
			process.write(t, root)
			killed := 0
			table := Table{root: root, kill: func(pid int, sig syscall.Signal) error {
				if pid != 7 || sig != syscall.SIGKILL {
					t.Errorf("unexpected signal %v to %d", sig, pid)
				}
				killed++
				return nil
			}}
			if err := table.Signal(ID{PID: 7, StartTicks: 100}, "/d", syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if got := killed == 1; got != row.want {
				t.Errorf("signalled: %t, want %t", got, row.want)
			}
		})
	}
}

func TestRelativeDirectoryIsResolved(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	fakeProcess{pid: 9, name: "x", state: "S", start: 5, command: []string{"localcluster", "run", "--dir", filepath.Base(dir)}}.write(t, root)
	if err := os.Symlink(filepath.Dir(dir), filepath.Join(root, "9", "cwd")); err != nil {
		t.Fatal(err)
	}
	if !(Table{root: root}).Ours(ID{PID: 9, StartTicks: 5}, dir) {
		t.Error("a process in the foreground was not recognised by its relative directory")
	}
}

func TestLookAtMissingProcess(t *testing.T) {
	if _, err := (Table{root: t.TempDir()}).Look(1); !errors.Is(err, ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
}

func TestParseStatRefusesRubbish(t *testing.T) {
	for _, raw := range []string{"", "1", "1 (x", "x) S (", "a (x) S 1 2", "1 (x) S 1 2 3", strings.Repeat("(", 40)} {
		if _, err := parseStat([]byte(raw)); !errors.Is(err, errStat) {
			t.Errorf("parseStat(%q): %v, want errStat", raw, err)
		}
	}
}

func TestWaitGoneSeesTheEndOfARealProcess(t *testing.T) {
	command := exec.Command("sleep", "60")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	table := System()
	info, err := table.Look(command.Process.Pid)
	if err != nil || !table.Alive(info.ID) {
		t.Fatalf("a running process is not seen: %v", err)
	}
	if left := table.WaitGone([]ID{info.ID}, 0); len(left) != 1 {
		t.Error("a running process was taken for gone")
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if left := table.WaitGone([]ID{info.ID}, 10*time.Second); len(left) != 0 {
		t.Error("a killed process was taken for alive")
	}
	_ = command.Wait()
}

func TestListenerFindsThisProcess(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	port := listener.Addr().(*net.TCPAddr).Port
	if info, found := System().Listener(port); !found || info.PID != os.Getpid() {
		t.Errorf("got process %d, found %t; want %d", info.PID, found, os.Getpid())
	}
}
