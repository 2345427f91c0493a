package proxy

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Names in the kubeconfig, as the old tool chose them; playbooks may refer to them.
const (
	clusterName = "proxy-server"
	userName    = "admin/proxy-server"
)

// Kubeconfig returns the configuration by which the run's processes reach the proxy. It holds the token, so it must
// be kept from others.
//
// The context has no namespace: modules that are not told one do not use that of the resource, and never did.
func (s *Session) Kubeconfig() ([]byte, error) {
	context := s.owner.Namespace + "/proxy-server"
	data, err := clientcmd.Write(api.Config{
		Clusters: map[string]*api.Cluster{
			clusterName: {Server: s.proxy.URL(), CertificateAuthorityData: s.proxy.ca},
		},
		AuthInfos:      map[string]*api.AuthInfo{userName: {Token: s.token}},
		Contexts:       map[string]*api.Context{context: {Cluster: clusterName, AuthInfo: userName}},
		CurrentContext: context,
	})
	if err != nil {
		return nil, fmt.Errorf("write a kubeconfig for the proxy: %w", err)
	}
	return data, nil
}
