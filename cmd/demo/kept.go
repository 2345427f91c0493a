package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// keptFile says what a demo with --keep left running.
const keptFile = "kept.json"

// kept is the content of that file.
type kept struct {
	Options  keptOptions `json:"options"`
	Cluster  cluster     `json:"cluster"`
	Operator process     `json:"operator"`
	Store    process     `json:"store"`
}

// keptOptions are the options that taking down needs.
type keptOptions struct {
	Namespace    string `json:"namespace"`
	Localcluster string `json:"localcluster"`
	CRDs         string `json:"crds"`
	Samples      string `json:"samples"`
}

// leave leaves cluster, operator and store running, and says how to use and end them.
func (d *demo) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	heir, err := d.store.handOver(ctx)
	if err != nil {
		return err
	}
	k := kept{
		Options: keptOptions{Namespace: d.opts.namespace, Localcluster: d.opts.localcluster, CRDs: d.opts.crds, Samples: d.opts.samples},
		Cluster: d.cluster,
	}
	if k.Operator, err = identify(d.operator.PID()); err != nil {
		return err
	}
	if k.Store, err = identify(heir.PID()); err != nil {
		return err
	}
	if err := k.write(d.opts.dir); err != nil {
		return err
	}
	d.screen.Printf(`
Cluster and operator keep running.
  use   kubectl --kubeconfig %s --namespace %s get samples
  log   %s
  end   %s down --dir %s`, d.cluster.Kubeconfig, d.opts.namespace, d.path(operatorLog), os.Args[0], d.opts.dir)
	return nil
}

func (k kept) write(dir string) error {
	data, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return fmt.Errorf("note what is kept: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, keptFile), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("note what is kept: %w", err)
	}
	return nil
}

// readKept returns what is kept in dir, or nil if nothing is.
func readKept(dir string) (*kept, error) {
	path := filepath.Join(dir, keptFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what is kept: %w", err)
	}
	var k kept
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, fmt.Errorf("parse %s: %w", path, err)
	}
	return &k, nil
}

// refuseKept returns an error if a kept demo is in dir: somebody still wants it.
func refuseKept(dir string) error {
	k, err := readKept(dir)
	if err != nil || k == nil {
		return err
	}
	return fmt.Errorf("a kept demo is in %s; end it with '%s down --dir %s'", dir, os.Args[0], dir)
}

// stopLimit is how long a kept process may take to end.
const stopLimit = stopGrace + 5*time.Second
