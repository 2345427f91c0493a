package proxy_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/proxy"
)

// echo answers an upgrade by sending back all that comes, in capitals.
func echo(w http.ResponseWriter, r *http.Request) {
	conn, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", r.Header.Get("Upgrade"))
	_ = rw.Flush()
	for {
		line, err := rw.ReadString('\n')
		if err != nil {
			return
		}
		_, _ = rw.WriteString(strings.ToUpper(line))
		_ = rw.Flush()
	}
}

// TestUpgrades speaks other protocols over the proxy's connection, as exec, attach and port-forward do (C6).
func TestUpgrades(t *testing.T) {
	s := newFakeStage(t, echo)
	for _, protocol := range []string{"SPDY/3.1", "websocket"} {
		t.Run(protocol, func(t *testing.T) {
			session := s.open(t, owner("a", "x"))
			conn, in := upgrade(t, s, session, protocol)
			fmt.Fprintln(conn, "hello")
			if line, err := in.ReadString('\n'); err != nil || line != "HELLO\n" {
				t.Errorf("read %q (%v), want what was sent, in capitals", line, err)
			}
		})
	}
}

// TestClosingASessionEndsUpgrades makes sure that nothing goes on in the name of a run that is over.
func TestClosingASessionEndsUpgrades(t *testing.T) {
	s := newFakeStage(t, echo)
	session := s.open(t, owner("a", "x"))
	_, in := upgrade(t, s, session, "SPDY/3.1")
	session.Close()
	if _, err := in.ReadByte(); err != io.EOF {
		t.Errorf("reading from the connection says %v, want its end", err)
	}
}

// upgrade sends a request for another protocol and returns the connection once it was granted.
func upgrade(t *testing.T, s *stage, session *proxy.Session, protocol string) (net.Conn, *bufio.Reader) {
	t.Helper()
	config := through(t, session)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.CAData)
	host := strings.TrimPrefix(s.URL(), "https://")
	conn, err := tls.Dial("tcp", host, &tls.Config{RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(soon)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /api/v1/namespaces/a/pods/p/exec?command=x HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Connection: Upgrade\r\nUpgrade: %s\r\nContent-Length: 0\r\n\r\n", host, config.BearerToken, protocol)
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() // which is empty
	if resp.StatusCode != http.StatusSwitchingProtocols || resp.Header.Get("Upgrade") != protocol {
		t.Fatalf("status %d, want the upgrade to %s", resp.StatusCode, protocol)
	}
	return conn, in
}
