package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/chartbook-operator/chartbook/runner"
)

var update = flag.Bool("update", false, "write golden files in the scripts anew")

func TestMain(m *testing.M) {
	run := func() { os.Exit(execute(os.Args)) }
	testscript.Main(m, map[string]func(){
		string(runner.Chartbook):       run,
		string(runner.AnsibleOperator): run,
		string(runner.HelmOperator):    run,
	})
}

// Covers UP A6, I2.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup:               prepare,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"until": until, "jsonlines": jsonLines},
	})
}

// prepare gives each script a home, a port that is taken and no way to any cluster but one where nobody answers.
func prepare(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		return fmt.Errorf("make a home directory: %w", err)
	}
	env.Setenv("HOME", home)
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("take a port: %w", err)
	}
	env.Defer(func() { taken.Close() })
	env.Setenv("TAKEN", taken.Addr().String())
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		return fmt.Errorf("find the port that is taken: %w", err)
	}
	env.Setenv("TAKEN_PORT", port)
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("find a free port: %w", err)
	}
	free.Close()
	if _, port, err = net.SplitHostPort(free.Addr().String()); err != nil {
		return fmt.Errorf("find a free port: %w", err)
	}
	env.Setenv("FREE_PORT", port)
	return os.WriteFile(filepath.Join(env.WorkDir, "dead.kubeconfig"), []byte(deadKubeconfig), 0o600)
}

// deadKubeconfig leads to a port on which no server listens: port 0 cannot be listened on.
const deadKubeconfig = `apiVersion: v1
kind: Config
current-context: dead
clusters: [{name: dead, cluster: {server: "https://127.0.0.1:0"}}]
users: [{name: dead, user: {token: none}}]
contexts: [{name: dead, context: {cluster: dead, user: dead}}]
`

// patience is how long a script waits for a line, with other tests on the same cores.
const patience = 2 * time.Minute

// until implements "until PATTERN PROGRAM ARGUMENT...": it runs a program until a line of its standard error matches,
// then asks it to end and waits for that. The program must end without an error.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN PROGRAM ARGUMENT...")
	}
	pattern := regexp.MustCompile(args[0])
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = environment(ts)
	cmd.Stdout = ts.Stdout()
	stderr, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	killer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer killer.Stop()
	found := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		_, err := io.WriteString(ts.Stderr(), lines.Text()+"\n")
		ts.Check(err)
		if !found && pattern.MatchString(lines.Text()) {
			found = true
			ts.Check(cmd.Process.Signal(os.Interrupt))
		}
	}
	if err := cmd.Wait(); err != nil {
		ts.Fatalf("%s: %v", strings.Join(args[1:], " "), err)
	}
	if !found {
		ts.Fatalf("no line matched %s", args[0])
	}
}

// jsonLines implements "jsonlines": the program that ran last wrote nothing but JSON objects, one to a line, each with a
// level, a time and a message; and it wrote at least one.
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: jsonlines")
	}
	text := strings.TrimSuffix(ts.ReadFile("stdout")+ts.ReadFile("stderr"), "\n")
	for line := range strings.SplitSeq(text, "\n") {
		var object struct{ Level, TS, Msg string }
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			ts.Fatalf("this line is no JSON object (%v): %s", err, line)
		}
		if object.Level == "" || object.TS == "" || object.Msg == "" {
			ts.Fatalf("this line lacks a level, a time or a message: %s", line)
		}
	}
}

// environment are the variables of a script that matter to a program.
func environment(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "WATCH_NAMESPACE", "OPERATOR_NAME"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}
