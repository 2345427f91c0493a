package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// errNoCluster says what to do where nothing leads to a cluster.
var errNoCluster = errors.New("there is no kubeconfig, and this is no pod with a service account; set --kubeconfig or KUBECONFIG")

// loadConfig returns how to reach the cluster. A kubeconfig that is named, by flag or environment, wins over the
// cluster that the pod runs in, and that over the kubeconfig in the home directory; a named context means a
// kubeconfig.
// Client-side rate limits are off, as in the old operators: the API server's own are fairer.
func loadConfig(kubeconfig, context string) (*rest.Config, error) {
	if kubeconfig == "" && context == "" && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
		if cfg, err := rest.InClusterConfig(); err == nil {
			cfg.QPS = -1
			return cfg, nil
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: context}
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, fmt.Errorf("find the cluster: %w", noCluster(context))
	case err != nil:
		return nil, fmt.Errorf("find the cluster%s: %w", named(kubeconfig, context), err)
	}
	cfg.QPS = -1
	return cfg, nil
}

// contextNamespace returns the namespace of a kubeconfig's context, or of the pod; "default" where neither names one.
func contextNamespace(kubeconfig, context string) string {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: context}
	namespace, _, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).Namespace()
	if err != nil || namespace == "" {
		return "default"
	}
	return namespace
}

// noCluster says why nothing leads to a cluster: a kubeconfig of the environment that is not there counts for none.
func noCluster(context string) error {
	if list := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); list != "" {
		return fmt.Errorf("the environment variable KUBECONFIG names no kubeconfig that is there and says where a cluster is: %s", list)
	}
	if context != "" {
		return fmt.Errorf("--context is %s, but there is no kubeconfig; set --kubeconfig or KUBECONFIG", context)
	}
	return errNoCluster
}

// named says which flags or variables the way to the cluster came from.
func named(kubeconfig, context string) string {
	var from []string
	switch list := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); {
	case kubeconfig != "":
		from = append(from, "--kubeconfig")
	case list != "":
		from = append(from, "KUBECONFIG="+list)
	}
	if context != "" {
		from = append(from, "--context")
	}
	if len(from) == 0 {
		return ""
	}
	return " by " + strings.Join(from, " and ")
}
