package pki

import (
	"encoding/base64"
	"fmt"
)

// ContextName is the context, cluster and user in every kubeconfig written here.
const ContextName = "localcluster"

const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: %[1]s
  cluster:
    server: %[2]s
    certificate-authority-data: %[3]s
users:
- name: %[1]s
  user:
    client-certificate-data: %[4]s
    client-key-data: %[5]s
contexts:
- name: %[1]s
  context:
    cluster: %[1]s
    user: %[1]s
current-context: %[1]s
preferences: {}
`

// Kubeconfig is a file that names the server and carries everything needed to talk to it.
func Kubeconfig(server string, authority []byte, client Pair) []byte {
	base := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, kubeconfig, ContextName, server, base(authority), base(client.Cert), base(client.Key))
}
