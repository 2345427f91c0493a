package pki

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net"
	"testing"
	"time"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func authority(t *testing.T, name string) *Authority {
	t.Helper()
	a, err := NewAuthority(name, now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func parse(t *testing.T, pair Pair) *x509.Certificate {
	t.Helper()
	if _, err := tls.X509KeyPair(pair.Cert, pair.Key); err != nil {
		t.Fatalf("certificate and key do not belong together: %v", err)
	}
	block, _ := pem.Decode(pair.Cert)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func verify(a *Authority, cert *x509.Certificate, at time.Time, usage x509.ExtKeyUsage) error {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.Cert)
	_, err := cert.Verify(x509.VerifyOptions{Roots: pool, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{usage}})
	return err
}

func TestClientCertificate(t *testing.T) {
	a, other := authority(t, "a"), authority(t, "b")
	pair, err := a.Client("jane", "admins")
	if err != nil {
		t.Fatal(err)
	}
	cert := parse(t, pair)
	if cert.Subject.CommonName != "jane" || len(cert.Subject.Organization) != 1 || cert.Subject.Organization[0] != "admins" {
		t.Errorf("the certificate names %s", cert.Subject)
	}
	if err := verify(a, cert, now, x509.ExtKeyUsageClientAuth); err != nil {
		t.Errorf("its own authority refuses it: %v", err)
	}
	for why, err := range map[string]error{
		"another authority accepts it":  verify(other, cert, now, x509.ExtKeyUsageClientAuth),
		"it passes for a server":        verify(a, cert, now, x509.ExtKeyUsageServerAuth),
		"it is valid for ever":          verify(a, cert, now.Add(validity+time.Second), x509.ExtKeyUsageClientAuth),
		"it was valid before its start": verify(a, cert, now.Add(-time.Hour), x509.ExtKeyUsageClientAuth),
	} {
		if err == nil {
			t.Error(why)
		}
	}
}

func TestServerCertificate(t *testing.T) {
	a := authority(t, "a")
	pair, err := a.Server("api", []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	cert := parse(t, pair)
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, "example.com": false} {
		if got := cert.VerifyHostname(host) == nil; got != want {
			t.Errorf("valid for %s: %t, want %t", host, got, want)
		}
	}
	if err := verify(a, cert, now, x509.ExtKeyUsageServerAuth); err != nil {
		t.Error(err)
	}
}

func TestSigningKeyIsAPair(t *testing.T) {
	pair, err := SigningKey()
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(pair.Key)
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	block, _ = pem.Decode(pair.Cert)
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if !key.PublicKey.Equal(public) {
		t.Error("the public key is that of another")
	}
}

func TestKubeconfigHoldsEverything(t *testing.T) {
	config := Kubeconfig("https://127.0.0.1:1", []byte("authority"), Pair{Cert: []byte("cert"), Key: []byte("key")})
	for _, part := range []string{"authority", "cert", "key"} {
		if !bytes.Contains(config, []byte(base64.StdEncoding.EncodeToString([]byte(part)))) {
			t.Errorf("the kubeconfig lacks the %s", part)
		}
	}
	if !bytes.Contains(config, []byte("server: https://127.0.0.1:1\n")) || !bytes.Contains(config, []byte("current-context: "+ContextName+"\n")) {
		t.Errorf("the kubeconfig is not usable:\n%s", config)
	}
}
