package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
)

// exchange is what the proxy knows of a request on its way.
type exchange struct {
	session *Session
	req     apirecord.Request
	object  bool // req is set: the request is about an object or a list of objects
}

type exchangeKey struct{}

func withExchange(ctx context.Context, e *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, e)
}

// newAsker returns the way to the API server.
func newAsker(config *rest.Config) (asker, *transport, error) {
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return asker{}, nil, fmt.Errorf("find out the address of the API server: %w", err)
	}
	t, err := newTransport(config)
	if err != nil {
		return asker{}, nil, err
	}
	return asker{target: target, transport: t.plain}, t, nil
}

// newUpstream returns the part that passes requests on to the API server.
func newUpstream(target *url.URL, t *transport, log logr.Logger) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { rewrite(r, target) },
		Transport:    t,
		ErrorHandler: unreachable,
		ErrorLog:     slog.NewLogLogger(logr.ToSlogHandler(log.V(1)), slog.LevelInfo),
	}
}

// rewrite aims a request at the API server. The transport puts the proxy's own credentials in.
func rewrite(r *httputil.ProxyRequest, target *url.URL) {
	r.SetURL(target)
	r.Out.Header.Del("Authorization")
}

// transport sends requests to the API server and notes the answers.
type transport struct {
	plain http.RoundTripper
	// upgrade speaks HTTP/1.1 only: in HTTP/2 a connection cannot be turned into one of another protocol, as exec,
	// attach and port-forward do.
	upgrade http.RoundTripper
	// answered is told of each answer to a request about objects.
	answered func(apirecord.Request, *http.Response)
}

func newTransport(config *rest.Config) (*transport, error) {
	config = rest.CopyConfig(config)
	config.DisableCompression = true // whether an answer is compressed is between the client and the API server
	plain, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a transport to the API server: %w", err)
	}
	config.NextProtos = []string{"http/1.1"}
	upgrade, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a transport for upgraded connections to the API server: %w", err)
	}
	return &transport{plain: plain, upgrade: upgrade}, nil
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	e, _ := req.Context().Value(exchangeKey{}).(*exchange)
	if !e.session.sidecars {
		e.session.recorder.CountRequest()
	}
	next := t.plain
	if req.Header.Get("Upgrade") != "" {
		next = t.upgrade
	}
	resp, err := next.RoundTrip(req)
	if err == nil && e.object {
		t.note(e, resp)
	}
	return resp, err
}

func (t *transport) note(e *exchange, resp *http.Response) {
	t.answered(e.req, resp)
	if e.session.learns(e.req) {
		e.session.learnAnswer(e.req, resp)
	}
	if !e.session.sidecars {
		e.session.recorder.Observe(e.req, resp)
	}
}
