package proxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Certificates live as long as the process; the dates only have to cover that.
const (
	validBefore = time.Hour
	validAfter  = 10 * 365 * 24 * time.Hour
)

// newCertificate makes an authority and a certificate for loopback signed by it. It returns the certificate with its
// key and the authority's certificate as PEM; the authority's key is thrown away.
//
// Clients trust exactly this authority. ECDSA keeps both the file that they read and the handshake small.
func newCertificate(now time.Time) (tls.Certificate, []byte, error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make a key for the proxy's authority: %w", err)
	}
	ca := template(1, "chartbook-proxy-ca", now)
	ca.IsCA, ca.BasicConstraintsValid, ca.KeyUsage = true, true, x509.KeyUsageCertSign
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make the proxy's authority: %w", err)
	}
	if ca, err = x509.ParseCertificate(caDER); err != nil { // with the key identifier that the other must name
		return tls.Certificate{}, nil, fmt.Errorf("read the proxy's authority: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make a key for the proxy: %w", err)
	}
	leaf := template(2, "chartbook-proxy", now)
	leaf.KeyUsage = x509.KeyUsageDigitalSignature
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leaf.DNSNames = []string{"localhost"}
	leaf.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make the proxy's certificate: %w", err)
	}
	caPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})
	return tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: key}, caPEM, nil
}

func template(serial int64, name string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-validBefore),
		NotAfter:     now.Add(validAfter),
	}
}
