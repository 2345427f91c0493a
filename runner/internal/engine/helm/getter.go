package helm

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/kubectl/pkg/validation"
)

// getter hands out clients of one run, as Helm's kube.Factory and its RESTClientGetter. The run's requests go over
// the shared connections, and kinds come from the shared mapper.
type getter struct {
	config    *rest.Config
	mapper    meta.RESTMapper
	discovery func() (discovery.CachedDiscoveryInterface, error)
}

func newGetter(config *rest.Config, mapper meta.RESTMapper) *getter {
	return &getter{config: config, mapper: mapper, discovery: sync.OnceValues(func() (discovery.CachedDiscoveryInterface, error) {
		client, err := discovery.NewDiscoveryClientForConfig(config)
		if err != nil {
			return nil, err
		}
		return memory.NewMemCacheClient(client), nil
	})}
}

// ToRESTConfig returns a copy of the run's client configuration.
func (g *getter) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(g.config), nil }

// ToRESTMapper returns the shared mapper.
func (g *getter) ToRESTMapper() (meta.RESTMapper, error) { return g.mapper, nil }

// ToDiscoveryClient returns the run's discovery client.
func (g *getter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return g.discovery()
}

// ToRawKubeConfigLoader returns an empty kubeconfig: Helm only asks it for a namespace, which it has been told.
func (g *getter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), &clientcmd.ConfigOverrides{})
}

// DynamicClient returns a client for any kind.
func (g *getter) DynamicClient() (dynamic.Interface, error) { return dynamic.NewForConfig(g.config) }

// KubernetesClientSet returns a client for the built-in kinds.
func (g *getter) KubernetesClientSet() (*kubernetes.Clientset, error) {
	return kubernetes.NewForConfig(g.config)
}

// NewBuilder returns a builder that reads manifests.
func (g *getter) NewBuilder() *resource.Builder { return resource.NewBuilder(g) }

// Validator accepts everything. Where the API server validates fields (every one that is still supported does),
// Helm's own check consists of asking it whether it does, at the price of fetching all its schemas.
func (g *getter) Validator(string) (validation.Schema, error) { return validation.NullSchema{}, nil }
