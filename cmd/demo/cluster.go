package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/chartbook-operator/chartbook/cmd/internal/child"
)

// downLimit is how long a local control plane may take to end.
const downLimit = 30 * time.Second

// cluster is where the demo takes place.
type cluster struct {
	Kind       string `json:"kind"`       // local or current
	Kubeconfig string `json:"kubeconfig"` // path; holds one context
	Context    string `json:"context"`    // name of the user's context; empty for a local cluster
}

// local says that the cluster ends with the demo, so that nothing in it needs to be removed.
func (c cluster) local() bool { return c.Kind == clusterLocal }

// startCluster starts a control plane, or takes the one of the current context.
func (d *demo) startCluster(ctx context.Context) error {
	use := d.useLocal
	if d.opts.cluster == clusterCurrent {
		use = d.useCurrent
	}
	if err := use(ctx); err != nil {
		return err
	}
	config, err := clusterConfig(d.cluster.Kubeconfig)
	if err != nil {
		return err
	}
	d.kube, err = newKube(config, d.opts.namespace)
	return err
}

func clusterConfig(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", kubeconfig, err)
	}
	config.QPS, config.Burst = 50, 100
	config.WarningHandler = rest.NoWarnings{}
	return config, nil
}

// useLocal starts a control plane in a directory of its own.
func (d *demo) useLocal(ctx context.Context) error {
	dir := d.path("cluster")
	// What a demo that was killed left is no help to this one.
	if err := localclusterDown(ctx, d.opts.localcluster, dir); err != nil {
		return err
	}
	d.sayf("Starting a control plane in %s", dir)
	d.undo.add("Ending the control plane", downLimit, func(ctx context.Context) error {
		return localclusterDown(ctx, d.opts.localcluster, dir)
	})
	err := d.wait(ctx, "the control plane to be ready", d.opts.timeout, func(ctx context.Context) error {
		return d.launchLocal(ctx, dir)
	})
	if err != nil {
		return err
	}
	d.cluster = cluster{Kind: clusterLocal, Kubeconfig: filepath.Join(dir, "kubeconfig")}
	return nil
}

// launchLocal returns when the control plane is ready. One that is not to be kept ends when the demo does, even if
// that is killed.
func (d *demo) launchLocal(ctx context.Context, dir string) error {
	args := []string{"run", "--with-parent", "--dir", dir}
	if d.opts.keep {
		args = []string{"up", "--dir", dir}
	}
	cmd := exec.Command(d.opts.localcluster, args...)
	ready := newFirstLine()
	last := "no word of it"
	steps := &lineWriter{line: func(line string) {
		last = line
		d.sayf("  %s", line)
	}}
	cmd.Stdout, cmd.Stderr = ready, steps
	// The control plane of "up" outlives that process and keeps its pipes.
	cmd.WaitDelay = time.Second
	c, err := child.Start(cmd, false)
	if err != nil {
		return err
	}
	select {
	case <-ready.seen:
		return nil
	case <-c.Done:
		if d.opts.keep && c.Err() == nil {
			return nil
		}
		return fmt.Errorf("start a control plane: %s", last)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// teachGarbageCollector restarts the controllers of a local cluster, so that they know the kinds that were installed
// just now. By itself the garbage collector looks for new kinds every 30 s; a child whose owner is of a kind that it
// does not know yet is looked at less and less often, and would be collected up to a minute after its owner went.
func (d *demo) teachGarbageCollector(ctx context.Context) error {
	if !d.cluster.local() {
		return nil
	}
	out, err := exec.CommandContext(ctx, d.opts.localcluster, "restart", "--dir", d.path("cluster"), "controller-manager").CombinedOutput()
	if err != nil {
		return fmt.Errorf("restart the controllers of the cluster: %w: %s", err, lastLine(out))
	}
	return nil
}

// localclusterDown ends the control plane in dir, if there is one. It does so even when ctx has ended: a control plane
// that is left behind helps nobody.
func localclusterDown(ctx context.Context, program, dir string) error {
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("look for the local control plane: %w; build it with 'make localcluster'", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), downLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "down", "--dir", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("end the control plane in %s: %w: %s", dir, err, lastLine(out))
	}
	return nil
}
