package main

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
)

// loadConfig returns how to reach the cluster: of the given kubeconfig, else as controller-runtime looks for it.
// Client-side rate limits are off, as in the old operators: the API server's own are fairer.
func loadConfig(kubeconfig, context string) (*rest.Config, error) {
	var cfg *rest.Config
	var err error
	if kubeconfig != "" {
		rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}
		overrides := &clientcmd.ConfigOverrides{CurrentContext: context}
		cfg, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	} else {
		cfg, err = config.GetConfigWithContext(context)
	}
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w; set --kubeconfig or KUBECONFIG, or run in a pod with a service account", err)
	}
	cfg.QPS = -1
	return cfg, nil
}
