package main

import (
	_ "github.com/spf13/cobra"
	_ "go.etcd.io/etcd/server/v3/embed"
	_ "k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	_ "k8s.io/kubernetes/cmd/kube-scheduler/app"
	_ "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	_ "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat"
	_ "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	_ "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	_ "sigs.k8s.io/kwok/pkg/kwok/cmd"
)

func main() {}
