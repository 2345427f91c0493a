package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func twoContexts(t *testing.T) *clientcmdapi.Config {
	t.Helper()
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, []byte("certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["a"] = &clientcmdapi.Cluster{Server: "https://a", CertificateAuthority: ca}
	config.Clusters["b"] = &clientcmdapi.Cluster{Server: "https://b"}
	config.AuthInfos["me"] = &clientcmdapi.AuthInfo{Token: "a"}
	config.AuthInfos["other"] = &clientcmdapi.AuthInfo{Token: "b"}
	config.Contexts["one"] = &clientcmdapi.Context{Cluster: "a", AuthInfo: "me"}
	config.Contexts["two"] = &clientcmdapi.Context{Cluster: "b", AuthInfo: "other"}
	config.CurrentContext = "one"
	return config
}

func TestIsolateKeepsTheCurrentContextAlone(t *testing.T) {
	config := twoContexts(t)
	server, err := isolate(config)
	if err != nil {
		t.Fatal(err)
	}
	if server != "https://a" {
		t.Errorf("server is %q", server)
	}
	got := []int{len(config.Clusters), len(config.AuthInfos), len(config.Contexts)}
	if diff := cmp.Diff([]int{1, 1, 1}, got); diff != "" {
		t.Errorf("clusters, users, contexts (-want +got):\n%s", diff)
	}
	if ca := string(config.Clusters["a"].CertificateAuthorityData); ca != "certificate" {
		t.Errorf("the certificate is %q: it has to be in the copy, not beside it", ca)
	}
}

func TestIsolateRefuses(t *testing.T) {
	tests := map[string]struct {
		reason  string
		current string
	}{
		"None":    {reason: "there is no cluster that the user has chosen", current: ""},
		"Missing": {reason: "the chosen one does not exist", current: "three"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			config := twoContexts(t)
			config.CurrentContext = test.current
			if server, err := isolate(config); err == nil {
				t.Errorf("took %s: %s", server, test.reason)
			}
		})
	}
}
