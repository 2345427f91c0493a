package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

var errTooLong = errors.New("the answer is too long")

// asker asks the API server in the proxy's own name.
type asker struct {
	target    *url.URL
	transport http.RoundTripper
}

// reply is an answer, read whole.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// ask gets a path, which may have a query. An answer of more than limit bytes is errTooLong.
func (a asker) ask(ctx context.Context, path string, header http.Header, limit int64) (reply, error) {
	url := strings.TrimSuffix(a.target.String(), "/") + path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil) //nolint:gosec // always to the API server
	if err != nil {
		return reply{}, fmt.Errorf("ask the API server for %s: %w", path, err)
	}
	req.Header = header
	resp, err := a.transport.RoundTrip(req)
	if err != nil {
		return reply{}, fmt.Errorf("ask the API server for %s: %w", path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return reply{}, fmt.Errorf("read what the API server says to %s: %w", path, err)
	case int64(len(body)) > limit:
		return reply{}, fmt.Errorf("read what the API server says to %s: %w", path, errTooLong)
	}
	return reply{status: resp.StatusCode, header: resp.Header, body: body}, nil
}

// impersonation returns those of a request's headers that say in whose name it is sent.
func impersonation(header http.Header) http.Header {
	out := http.Header{}
	for name, values := range header {
		if strings.HasPrefix(name, "Impersonate-") {
			out[name] = values
		}
	}
	return out
}
