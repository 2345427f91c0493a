package proxy

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
)

// ServeHTTP implements http.Handler. It serves those who have a session's token.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !addressed(r.Host, p.listener) {
		refuse(w, http.StatusMisdirectedRequest, "this is no server for that host")
		return
	}
	session := p.enter(r)
	if session == nil {
		refuse(w, http.StatusUnauthorized, "the token is missing, unknown or that of a run that is over")
		return
	}
	defer session.leave()
	p.serve(w, r, session)
}

// serve answers a request in a session.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, session *Session) {
	if p.impersonate && impersonates(r.Header) {
		// Our own credentials are those of a user that we are allowed to impersonate. Who named another one would
		// get that one's rights instead, and possibly more.
		refuse(w, http.StatusForbidden, "a run that acts in someone's name cannot act in someone else's")
		return
	}
	ctx, done := bound(r.Context(), w, session)
	defer done()
	r = r.WithContext(ctx)
	if p.serveRemembered(w, r, session) {
		return
	}
	e := &exchange{session: session}
	e.req, e.object = apirecord.ParseRequest(r)
	if e.object {
		p.prepare(r, e)
	}
	p.upstream.ServeHTTP(w, r.WithContext(withExchange(ctx, e)))
}

// addressed reports whether a request was meant for a port of ours, by any name of loopback. A web page that was tricked
// into thinking that its own host lives here was not.
func addressed(host string, listener net.Listener) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return false
	}
	_, own, _ := net.SplitHostPort(listener.Addr().String())
	return port == own && (name == "localhost" || name == "127.0.0.1" || name == "::1")
}

func impersonates(header http.Header) bool { return len(impersonation(header)) > 0 }

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
