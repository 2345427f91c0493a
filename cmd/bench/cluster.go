package main

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/chartbook-operator/chartbook/cmd/internal/child"
)

// content is what the operators run.
//
//go:embed content
var content embed.FS

// Resources that the bench uses.
var (
	fives      = schema.GroupVersionResource{Group: "bench.example.com", Version: "v1", Resource: "fives"}
	readings   = schema.GroupVersionResource{Group: "bench.example.com", Version: "v1", Resource: "readings"}
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	crds       = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// kinds are the kinds of the bench's own resources.
var kinds = map[schema.GroupVersionResource]string{fives: "Five", readings: "Reading"}

// cluster is a throw-away control plane.
type cluster struct {
	dynamic.Interface
	kubeconfig string // path
}

// startCluster starts a control plane in dir. It ends with stop, or with this process.
func startCluster(ctx context.Context, program, dir string) (c cluster, stop func(), err error) {
	cmd := exec.Command(program, "run", "--with-parent", "--dir", dir)
	ready, out, err := os.Pipe()
	if err != nil {
		return cluster{}, nil, fmt.Errorf("start a control plane: %w", err)
	}
	defer ready.Close()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &said
	run, err := child.Start(cmd, false)
	_ = out.Close()
	if err != nil {
		return cluster{}, nil, err
	}
	stop = func() { _ = run.Stop(context.WithoutCancel(ctx), time.Minute) }
	if _, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		stop()
		return cluster{}, nil, fmt.Errorf("start a control plane: %s", strings.TrimSpace(said.String()))
	}
	go func() { _, _ = io.Copy(io.Discard, ready) }()
	c.kubeconfig = filepath.Join(dir, "kubeconfig")
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err == nil {
		config.QPS = -1 // the API server's own limits are enough
		config.WarningHandler = rest.NoWarnings{}
		c.Interface, err = dynamic.NewForConfig(config)
	}
	if err != nil {
		stop()
		return cluster{}, nil, fmt.Errorf("make a client for the control plane: %w", err)
	}
	return c, stop, nil
}

// install creates the kinds of the bench and waits until they are served.
func (c cluster) install(ctx context.Context) error {
	file, err := content.Open("content/crds.yaml")
	if err != nil {
		return err
	}
	defer file.Close()
	for documents := utilyaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		var crd unstructured.Unstructured
		if err := documents.Decode(&crd.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("read the CRDs: %w", err)
		}
		if err := c.create(ctx, crds, "", &crd); err != nil {
			return err
		}
	}
	for resource := range kinds {
		for {
			_, err := c.Resource(resource).List(ctx, listOptions)
			if err == nil {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("wait for %s to be served: %w", resource.Resource, err)
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return nil
}

// writeContent writes what the operators run, with the play that reads having so many tasks.
func writeContent(dir string, reads int) error {
	if err := os.CopyFS(dir, content); err != nil {
		return fmt.Errorf("write the playbooks: %w", err)
	}
	path := filepath.Join(dir, "content", "playbooks", "reading.yml")
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write the playbooks: %w", err)
	}
	head, task, _ := strings.Cut(string(text), "  tasks:\n")
	repeated := head + "  tasks:\n" + strings.Repeat(task, reads)
	if err := os.WriteFile(path, []byte(repeated), 0o600); err != nil {
		return fmt.Errorf("write the playbooks: %w", err)
	}
	return nil
}
