package ocichart

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"helm.sh/helm/v3/pkg/registry"
)

// pull gets the chart from its registry and keeps it.
func (c *Chart) pull(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "chartbook-registry-") // for credentials, and gone before this returns
	if err != nil {
		return err
	}
	result, err := c.ask(ctx, filepath.Join(dir, "config.json"))
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		return err
	}
	if err := c.verify(result.Manifest.Data, result.Chart.Data); err != nil {
		return err
	}
	return c.keep(result.Manifest.Data, result.Chart.Data)
}

// ask asks the registry. file is a place for credentials.
func (c *Chart) ask(ctx context.Context, file string) (*registry.PullResult, error) {
	credentials := []byte("{}")
	if c.credentials != nil {
		var err error
		if credentials, err = c.credentials(ctx); err != nil {
			return nil, fmt.Errorf("read the pull Secret: %w", err)
		}
	}
	if err := os.WriteFile(file, credentials, 0o600); err != nil {
		return nil, err
	}
	options := []registry.ClientOption{
		registry.ClientOptCredentialsFile(file),
		registry.ClientOptHTTPClient(&http.Client{Transport: bound{ctx}}),
	}
	if c.reference.plain() {
		options = append(options, registry.ClientOptPlainHTTP())
	}
	client, err := registry.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("make a client for the registry: %w", err)
	}
	return client.Pull(c.reference.String(), registry.PullOptWithChart(true))
}

// bound ends requests with a context, since Helm's client takes none.
type bound struct {
	ctx context.Context //nolint:containedctx // it is what binds
}

// RoundTrip implements http.RoundTripper.
func (b bound) RoundTrip(request *http.Request) (*http.Response, error) {
	return http.DefaultTransport.RoundTrip(request.WithContext(b.ctx))
}
