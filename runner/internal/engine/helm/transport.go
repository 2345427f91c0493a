package helm

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// boundTransport ends its requests when ctx is done. Helm passes no context on, so this is how a run is ended.
type boundTransport struct {
	ctx  context.Context //nolint:containedctx // it is what binds
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *boundTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.ctx.Err(); err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(t.ctx, cancel) //nolint:contextcheck // the request ends with either of two contexts
	release := func() { stop(); cancel() }
	resp, err := t.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		release()
		if ended := t.ctx.Err(); ended != nil {
			return nil, ended
		}
		return nil, err
	}
	resp.Body = &boundBody{ReadCloser: resp.Body, release: release}
	return resp, nil
}

// WrappedRoundTripper lets client-go find the transport's settings.
func (t *boundTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// boundBody lets go of its request's context when it is closed.
type boundBody struct {
	io.ReadCloser
	once    sync.Once
	release func()
}

// Close implements io.Closer.
func (b *boundBody) Close() error {
	defer b.once.Do(b.release)
	return b.ReadCloser.Close()
}

// withGrace returns a context that ends grace after ctx does, and a function that frees it.
func withGrace(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, cancel)
		context.AfterFunc(late, func() { timer.Stop() })
	})
	return late, func() { stop(); cancel() }
}
