package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Node is as much of a Node as health depends on.
type Node struct {
	Metadata struct{ Name string }
	Spec     struct{ Taints []struct{ Key string } }
	Status   struct {
		Conditions []struct{ Type, Status string }
	}
}

// Ready tells whether Pods can be scheduled to the node. A new node is tainted until the controllers have seen it.
func (n Node) Ready() bool {
	for _, c := range n.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True" && len(n.Spec.Taints) == 0
		}
	}
	return false
}

// ServerReady asks the API server for its own opinion.
func (c *Client) ServerReady(ctx context.Context) error {
	return c.Get(ctx, "/readyz", nil)
}

// Nodes lists the nodes of the cluster.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) {
	var list struct{ Items []Node }
	err := c.Get(ctx, "/api/v1/nodes", &list)
	return list.Items, err
}

// NodesReady fails unless there are that many nodes and all are ready.
func (c *Client) NodesReady(ctx context.Context, want int) error {
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if !n.Ready() {
			return fmt.Errorf("node %s is not ready", n.Metadata.Name)
		}
	}
	if len(nodes) < want {
		return fmt.Errorf("%d of %d nodes are there", len(nodes), want)
	}
	return nil
}

// DefaultAccount fails unless Pods can be created in the namespace default, which needs its service account.
func (c *Client) DefaultAccount(ctx context.Context) error {
	return c.Get(ctx, "/api/v1/namespaces/default/serviceaccounts/default", nil)
}

// Create sends a new object; that it is there already is no error.
func (c *Client) Create(ctx context.Context, path string, object any) error {
	err := c.Do(ctx, http.MethodPost, path, object, nil)
	if errors.Is(err, ErrExists) {
		return nil
	}
	return err
}

// Poll repeats a check until it passes. When the context ends first, the last failure says what was missing.
func Poll(ctx context.Context, interval time.Duration, check func(context.Context) error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	last := context.Cause(ctx)
	for ctx.Err() == nil {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), last)
}
