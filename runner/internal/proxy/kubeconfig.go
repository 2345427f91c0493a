package proxy

import (
	"encoding/json"
	"fmt"

	clientcmd "k8s.io/client-go/tools/clientcmd/api/v1"
)

// Names in the kubeconfig, as the old tool chose them; playbooks may refer to them.
const (
	clusterName = "proxy-server"
	userName    = "admin/proxy-server"
)

// Kubeconfig returns the configuration by which the run's processes reach the proxy. It holds the token, so it must
// be kept from others.
//
// It is JSON, which is YAML that needs the fewest steps to read: each Python module reads it anew, with a parser in Python.
//
// The context has no namespace: modules that are not told one do not use that of the resource, and never did.
func (s *Session) Kubeconfig() ([]byte, error) {
	context := s.owner.Namespace + "/proxy-server"
	data, err := json.Marshal(clientcmd.Config{
		Kind:       "Config",
		APIVersion: "v1",
		Clusters: []clientcmd.NamedCluster{{
			Name: clusterName, Cluster: clientcmd.Cluster{Server: s.proxy.URL(), CertificateAuthorityData: s.proxy.ca},
		}},
		AuthInfos:      []clientcmd.NamedAuthInfo{{Name: userName, AuthInfo: clientcmd.AuthInfo{Token: s.token}}},
		Contexts:       []clientcmd.NamedContext{{Name: context, Context: clientcmd.Context{Cluster: clusterName, AuthInfo: userName}}},
		CurrentContext: context,
	})
	if err != nil {
		return nil, fmt.Errorf("write a kubeconfig for the proxy: %w", err)
	}
	return data, nil
}
