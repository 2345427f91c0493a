package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
)

// downTimeout is how long any one thing may be waited for when a kept demo ends.
const downTimeout = 5 * time.Minute

func newDownCommand(patience context.Context) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "down",
		Short: "End a demo that was kept",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.dir == "" {
				return usagef("--dir is empty; name the directory of the kept demo")
			}
			return newDemo(o, cmd).down(cmd.Context(), patience)
		},
	}
	bindDir(cmd, &o.dir)
	return cmd
}

// down takes a kept demo down, in the order in which any demo ends.
func (d *demo) down(ctx, patience context.Context) error {
	k, err := readKept(d.opts.dir)
	if err != nil {
		return err
	}
	if k == nil {
		d.sayf("No kept demo is in %s", d.opts.dir)
		return nil
	}
	release, err := lockDir(d.opts.dir)
	if err != nil {
		return err
	}
	defer release()
	if err := d.resume(k); err != nil {
		return err
	}
	if err := d.undo.run(patience, d.sayf); err != nil {
		return err
	}
	d.sayf("Done")
	return ctx.Err()
}

// resume makes d what it was when the demo was left.
func (d *demo) resume(k *kept) error {
	d.cluster = k.Cluster
	d.opts.timeout = downTimeout
	d.opts.namespace, d.opts.localcluster = k.Options.Namespace, k.Options.Localcluster
	d.opts.crds, d.opts.samples = k.Options.CRDs, k.Options.Samples
	d.undo.add("Forgetting the demo", stopGrace, func(context.Context) error {
		return os.Remove(filepath.Join(d.opts.dir, keptFile))
	})
	config, err := clusterConfig(d.cluster.Kubeconfig)
	if err != nil {
		return err
	}
	if d.kube, err = newKube(config, d.opts.namespace); err != nil {
		return err
	}
	if d.samples, err = readSamples(d.opts.samples, d.opts.namespace); err != nil {
		return err
	}
	if err := d.undoCluster(); err != nil {
		return err
	}
	d.undo.add("Stopping the external store", stopLimit, func(ctx context.Context) error { return k.Store.stop(ctx, storeLimit) })
	d.undoTemp()
	d.undo.add("Stopping the operator", stopLimit, func(ctx context.Context) error { return k.Operator.stop(ctx, stopGrace) })
	d.undo.add("Removing the samples, finalizers included", d.removalLimit(), d.removeSamples)
	return nil
}

// undoCluster remembers how to give the cluster back.
func (d *demo) undoCluster() error {
	if d.cluster.local() {
		d.undo.add("Ending the control plane", downLimit, func(ctx context.Context) error {
			return localclusterDown(ctx, d.opts.localcluster, d.path("cluster"))
		})
		return nil
	}
	crds, err := readManifests(d.opts.crds)
	if err != nil {
		return fmt.Errorf("tell which CRDs to remove: %w", err)
	}
	d.undo.add("Removing "+d.cluster.Kubeconfig, storeLimit, func(context.Context) error { return os.Remove(d.cluster.Kubeconfig) })
	d.undo.add("Removing CRDs that the demo installed", crdLimit, func(ctx context.Context) error { return d.removeCRDs(ctx, crds) })
	d.undo.add("Removing namespace "+d.opts.namespace+" if the demo made it", namespaceLimit, d.removeNamespace)
	return nil
}
