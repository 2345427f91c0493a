package usermetrics

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
)

// listen opens the address, or another port of loopback where it is taken. Old callers say localhost, which may be the
// address of IPv6 too; that one is a bonus.
func (e *Endpoint) listen(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		e.fallback = err
		listener, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		listener, err = net.Listen("tcp", net.JoinHostPort(otherLoopback(host), "0"))
	}
	if err != nil {
		return e.fallback
	}
	e.listeners = []net.Listener{listener}
	if e.fallback == nil {
		port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // it listens by TCP
		if listener, err := net.Listen("tcp", net.JoinHostPort(otherLoopback(host), port)); err == nil {
			e.listeners = append(e.listeners, listener)
		}
	}
	return nil
}

// otherLoopback returns the other address that localhost may stand for.
func otherLoopback(host string) string {
	if host == "::1" {
		return "127.0.0.1"
	}
	return "::1"
}

// fromBrowser reports whether a page in a browser may have sent a request: it comes from a page, or to a name that
// somebody else has made to stand for this address.
func fromBrowser(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(trimBrackets(host))
	return r.Header.Get("Origin") != "" || (err != nil && host != "localhost")
}

func trimBrackets(host string) string {
	if n := len(host); n > 1 && host[0] == '[' && host[n-1] == ']' {
		return host[1 : n-1]
	}
	return host
}
