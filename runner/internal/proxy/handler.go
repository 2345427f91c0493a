package proxy

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
)

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.addressed(r.Host) {
		refuse(w, http.StatusMisdirectedRequest, "this is no server for that host")
		return
	}
	session := p.enter(r)
	if session == nil {
		refuse(w, http.StatusUnauthorized, "the token is missing, unknown or that of a run that is over")
		return
	}
	defer session.leave()
	if p.impersonate && impersonates(r.Header) {
		// Our own credentials are those of a user that we are allowed to impersonate. Who named another one would
		// get that one's rights instead, and possibly more.
		refuse(w, http.StatusForbidden, "a run that acts in someone's name cannot act in someone else's")
		return
	}
	e := &exchange{session: session}
	e.req, e.object = apirecord.ParseRequest(r)
	ctx, done := bound(r.Context(), w, session)
	defer done()
	if e.object && p.marks(session, e.req) {
		markBody(r, session.mark(e.req.Namespace))
	}
	p.upstream.ServeHTTP(w, r.WithContext(withExchange(ctx, e)))
}

// addressed reports whether a request was meant for the proxy, by any name of loopback. A web page that was tricked
// into thinking that its own host lives here was not.
func (p *Proxy) addressed(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return false
	}
	_, own, _ := net.SplitHostPort(p.listener.Addr().String())
	return port == own && (name == "localhost" || name == "127.0.0.1" || name == "::1")
}

func impersonates(header http.Header) bool {
	for name := range header {
		if strings.HasPrefix(name, "Impersonate-") {
			return true
		}
	}
	return false
}

// bound returns a context for a request that ends with the session too, even if the client neither sends nor takes
// anything more.
func bound(ctx context.Context, w http.ResponseWriter, session *Session) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	control := http.NewResponseController(w)
	broken := make(chan struct{})
	unbind := context.AfterFunc(session.ctx, func() {
		defer close(broken)
		cancel()
		past := time.Unix(1, 0)
		_ = control.SetReadDeadline(past) // fails for a connection that was taken over; that ends with ctx
		_ = control.SetWriteDeadline(past)
	})
	return ctx, func() {
		if !unbind() {
			<-broken // w must not be touched when the handler is over
		}
		cancel()
	}
}
