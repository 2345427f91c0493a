// Package testkit gives tests a real control plane and short ways to fill and question it.
//
// Tests share the control plane named by the environment variable [ClusterDirEnv], which `make test` sets. Without it
// a test process starts one of its own from bin/localcluster, which ends with the process. A KUBECONFIG that happens
// to be set is never used.
package testkit
