package proxy

import (
	"context"
	"net/http"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// serveSidecars serves the port for who has no token, until ctx is done.
//
// Older operators had nothing but such a port, and containers beside them use it. A name and password that a request
// brings are not looked at: the old tool took the name for that of an owner, but anybody can write one, and an object
// with a wrong owner is deleted.
func (p *Proxy) serveSidecars(ctx context.Context) error {
	p.log.Info("Whoever reaches this port acts with the operator's rights; sidecars that can have an account of their own need it not",
		"address", "http://"+p.sidecars.Addr().String())
	nobody := newSession(p, engine.Owner{})
	nobody.sidecars = true
	server := p.server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !addressed(r.Host, p.sidecars) {
			refuse(w, http.StatusMisdirectedRequest, "this is no server for that host")
			return
		}
		nobody.requests.Add(1)
		defer nobody.leave()
		p.serve(w, r, nobody)
	}))
	stopped := context.AfterFunc(ctx, func() { nobody.cancel(); _ = server.Close() })
	defer stopped()
	return endOf(server.Serve(p.sidecars))
}

// SidecarURL returns the address of the port for who has no token; empty if there is none.
func (p *Proxy) SidecarURL() string {
	if p.sidecars == nil {
		return ""
	}
	return "http://" + p.sidecars.Addr().String()
}
