package kube

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
)

// FromKubeconfig makes a client from a kubeconfig that package pki wrote. It reads no other: those have one cluster, one
// user and one line per value.
func FromKubeconfig(path string) (*Client, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the kubeconfig: %w", err)
	}
	values := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if key, value, found := strings.Cut(strings.TrimSpace(line), ": "); found {
			values[key] = value
		}
	}
	var parts [][]byte
	for _, key := range []string{"certificate-authority-data", "client-certificate-data", "client-key-data"} {
		part, err := base64.StdEncoding.DecodeString(values[key])
		if err != nil || len(part) == 0 {
			return nil, fmt.Errorf("the kubeconfig %s has no readable %s", path, key)
		}
		parts = append(parts, part)
	}
	return New(values["server"], parts[0], parts[1], parts[2])
}
