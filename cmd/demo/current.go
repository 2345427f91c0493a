package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// useCurrent takes the cluster of the current context, after asking on a terminal. The context is copied to a
// file of its own: switching contexts elsewhere does not move the demo to another cluster halfway.
func (d *demo) useCurrent(ctx context.Context) error {
	config, err := clientcmd.NewDefaultClientConfigLoadingRules().Load()
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	name := config.CurrentContext
	server, err := isolate(config)
	if err != nil {
		return err
	}
	d.sayf("Using context %s (%s), namespace %s", name, server, d.opts.namespace)
	if err := d.askFor(ctx, name, server); err != nil {
		return err
	}
	path := d.path("kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	d.undo.add("Removing "+path, time.Second, func(context.Context) error { return os.Remove(path) })
	d.cluster = cluster{Kind: clusterCurrent, Kubeconfig: path, Context: name}
	return nil
}

// isolate reduces a kubeconfig to its current context, certificates included, and returns the server's address.
func isolate(config *clientcmdapi.Config) (server string, err error) {
	if config.CurrentContext == "" {
		return "", errors.New("the kubeconfig has no current context; choose one with 'kubectl config use-context NAME'")
	}
	if err := clientcmdapi.MinifyConfig(config); err != nil {
		return "", fmt.Errorf("read the current context of the kubeconfig: %w", err)
	}
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		return "", fmt.Errorf("read the certificates of context %s: %w", config.CurrentContext, err)
	}
	for _, c := range config.Clusters {
		server = c.Server
	}
	return server, nil
}
