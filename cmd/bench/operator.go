package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"golang.org/x/sync/errgroup"

	"github.com/chartbook-operator/chartbook/cmd/internal/child"
)

// How long the operator may take to end, and its resources to become Successful.
const (
	stopLimit = 20 * time.Second
	waitLimit = 10 * time.Minute
)

// operator is the operator that runs playbooks in one way, in a namespace of its own.
type operator struct {
	*child.Child
	cluster   cluster
	executor  string
	namespace string
	log       string // path
	metrics   string // URL
	created   int
}

// startOperator starts an operator. Crowd is how many runs it has at one time; zero leaves that to it.
func (s *session) startOperator(ctx context.Context, executor string, crowd int) (*operator, error) {
	name := executor
	if crowd > 0 {
		name += "-" + strconv.Itoa(len(s.wide))
	}
	o := &operator{cluster: s.cluster, executor: executor, namespace: "bench-" + name, log: filepath.Join(s.dir, name+".log")}
	if err := s.cluster.makeNamespace(ctx, o.namespace); err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	o.metrics = "http://" + address + "/metrics"
	args := []string{"run", "--kubeconfig", s.cluster.kubeconfig, "--ansible-executor", executor,
		"--metrics-bind-address=" + address, "--metrics-secure=false", "--metrics-require-rbac=false",
		"--health-probe-bind-address=0", "--user-metrics-bind-address=0"}
	if crowd > 0 {
		args = append(args, "--max-concurrent-reconciles="+strconv.Itoa(crowd), "--max-concurrent-runs="+strconv.Itoa(crowd))
	}
	temp := filepath.Join(s.dir, name)
	log, err := os.Create(o.log)
	if err == nil {
		defer log.Close()
		err = os.Mkdir(temp, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare for an operator: %w", err)
	}
	cmd := exec.Command(s.program, args...)
	cmd.Dir = filepath.Join(s.dir, "content")
	cmd.Env = environment(os.Environ(), o.namespace, temp)
	cmd.Stdout, cmd.Stderr = log, log
	o.Child, err = child.Start(cmd, false)
	return o, err
}

// environment returns that of an operator: ours, without what would send it elsewhere.
func environment(ours []string, namespace, temp string) []string {
	env := slices.DeleteFunc(slices.Clone(ours), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name == "KUBECONFIG" || name == "OPERATOR_NAME"
	})
	return append(env, "WATCH_NAMESPACE="+namespace, "TMPDIR="+temp, "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost")
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("look for a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// stop ends the operator.
func (o *operator) stop(ctx context.Context) error {
	return o.Stop(context.WithoutCancel(ctx), stopLimit)
}

// serve creates so many resources at once and returns how long it took until the last of them was Successful.
func (o *operator) serve(ctx context.Context, of schema.GroupVersionResource, count int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	go func() {
		select {
		case <-o.Done:
			cancel()
		case <-ctx.Done():
		}
	}()
	there := o.cluster.Resource(of).Namespace(o.namespace)
	changes, err := there.Watch(ctx, listOptions)
	if err != nil {
		return 0, fmt.Errorf("watch %s: %w", of.Resource, err)
	}
	defer changes.Stop()
	begun := time.Now()
	var group errgroup.Group
	names := make([]string, count)
	for i := range names {
		o.created++
		names[i] = o.executor + "-" + strconv.Itoa(o.created)
		obj := resource(of, names[i])
		group.Go(func() error {
			_, err := there.Create(ctx, obj, metav1.CreateOptions{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, fmt.Errorf("create %s: %w", of.Resource, err)
	}
	if err := awaitSuccessful(ctx, changes, names...); err != nil {
		return 0, fmt.Errorf("with the executor %s: %w; its log is %s", o.executor, err, o.log)
	}
	return time.Since(begun), nil
}

// rest removes what was created and waits until the operator has nothing more to do.
func (o *operator) rest(ctx context.Context) error {
	if err := o.cluster.clear(ctx, o.namespace); err != nil {
		return err
	}
	_, err := quiet(ctx, o.PID())
	return err
}
