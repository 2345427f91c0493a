package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/chartbook-operator/chartbook/cmd/internal/child"
)

const (
	operatorLog = "operator.log"
	// runGrace is how long running plays may go on when the operator has to end, and stopGrace how long it may take
	// to do so.
	runGrace  = 5 * time.Second
	stopGrace = 15 * time.Second
	// probeInterval is how often readiness is asked for; there is nothing that would tell.
	probeInterval = 100 * time.Millisecond
	probeTimeout  = 10 * time.Second
)

// startOperator starts the operator and waits until it is ready. When the operator ends by itself, so does the demo,
// through end.
func (d *demo) startOperator(ctx context.Context, end context.CancelCauseFunc) error {
	probe, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	if err := d.launchOperator(probe); err != nil {
		return err
	}
	go func() {
		<-d.operator.Done
		end(fmt.Errorf("the operator ended: %w", d.operator.Ending()))
	}()
	if err := follow(ctx, d.path(operatorLog), d.logged); err != nil {
		return err
	}
	err = d.wait(ctx, "the operator to be ready", d.opts.timeout, func(ctx context.Context) error {
		return awaitReady(ctx, "http://"+probe+"/readyz")
	})
	if err != nil {
		return err
	}
	d.sayf("Operator ready (process %d, log %s)", d.operator.PID(), d.path(operatorLog))
	return nil
}

func (d *demo) launchOperator(probe string) error {
	log, err := os.OpenFile(d.path(operatorLog), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the operator's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	temp, err := d.tempDir()
	if err != nil {
		return err
	}
	cmd := exec.Command(d.opts.operator, "run",
		"--watches-file", d.opts.watches,
		"--kubeconfig", d.cluster.Kubeconfig,
		"--metrics-bind-address=0",
		"--graceful-shutdown-timeout="+runGrace.String(),
		"--health-probe-bind-address="+probe)
	cmd.Env = operatorEnv(os.Environ(), d.store.url, d.opts.namespace, temp)
	cmd.Stdout, cmd.Stderr = log, log
	operator, err := child.Start(cmd, d.opts.keep)
	if err != nil {
		return err
	}
	d.operator = operator
	d.undo.add("Stopping the operator", stopGrace+time.Second, func(ctx context.Context) error {
		return operator.Stop(ctx, stopGrace)
	})
	return nil
}

// tempDir makes a directory for the operator's temporary files, so that nothing is left of them and no other operator
// on this machine gets in their way.
func (d *demo) tempDir() (string, error) {
	path, err := filepath.Abs(d.path("tmp"))
	if err != nil {
		return "", fmt.Errorf("make a directory for temporary files: %w", err)
	}
	// What a demo that was killed left there is of no use.
	if err := errors.Join(os.RemoveAll(path), os.MkdirAll(path, 0o700)); err != nil {
		return "", fmt.Errorf("make a directory for temporary files: %w", err)
	}
	d.undoTemp()
	return path, nil
}

func (d *demo) undoTemp() {
	d.undo.add("Removing temporary files", time.Minute, func(context.Context) error { return os.RemoveAll(d.path("tmp")) })
}

// logged takes note of one line of the operator's log.
func (d *demo) logged(line string) {
	if r, ok := parseLine(line).run(); ok && r.Namespace == d.opts.namespace {
		d.runs.add(r)
	}
}

// loopback lists what no proxy gets to: the stand-in is on this machine.
const loopback = "127.0.0.1,localhost"

// operatorEnv returns the operator's environment: ours, with what the playbooks need, and without what would send it
// to another cluster or namespace.
func operatorEnv(environ []string, storeURL, namespace, temp string) []string {
	set := map[string]string{
		"WATCH_NAMESPACE":    namespace,
		"TMPDIR":             temp,
		"EXTERNAL_STORE_URL": storeURL + storePath,
		"TRAINING_API_URL":   storeURL + trainingPath,
		"NO_PROXY":           loopback,
		"no_proxy":           loopback,
	}
	var env []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		switch _, ours := set[name]; {
		case strings.EqualFold(name, "NO_PROXY") && value != "":
			set[name] = value + "," + loopback
		case ours || name == "KUBECONFIG" || name == "OPERATOR_NAME":
		default:
			env = append(env, entry)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		env = append(env, name+"="+set[name])
	}
	return env
}

// freeAddress returns a loopback address that nobody listens on at the moment.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := listen(ctx)
	if err != nil {
		return "", fmt.Errorf("look for a free port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String(), nil
}

// awaitReady asks until the answer is 200.
func awaitReady(ctx context.Context, url string) error {
	client := &http.Client{Timeout: probeTimeout, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for {
		err := probeOnce(ctx, client, url)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(probeInterval):
		}
	}
}

func probeOnce(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("ask for readiness: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New(url + " answers " + response.Status)
	}
	return nil
}
