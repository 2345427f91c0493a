// Package pki makes the keys, certificates and kubeconfigs of one cluster, each cluster its own.
//
// Three authorities keep three doors apart: a client certificate of the cluster opens neither etcd nor the door that
// is kept for the aggregation proxy, which may speak for any user.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// validity is long enough for any throw-away cluster and short enough that a leaked key is soon worthless.
const validity = 30 * 24 * time.Hour

// Pair is a certificate and its private key, both as PEM.
type Pair struct {
	Cert, Key []byte
}

// Authority signs certificates.
type Authority struct {
	Pair
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	now  time.Time
}

// NewAuthority makes a self-signed authority.
func NewAuthority(name string, now time.Time) (*Authority, error) {
	template := basics(pkix.Name{CommonName: name}, now)
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	pair, cert, err := sign(template, template, key, key)
	if err != nil {
		return nil, fmt.Errorf("cannot sign the authority %s: %w", name, err)
	}
	return &Authority{Pair: pair, cert: cert, key: key, now: now}, nil
}

// Client makes a certificate that names a user and the group it belongs to.
func (a *Authority) Client(user string, groups ...string) (Pair, error) {
	template := basics(pkix.Name{CommonName: user, Organization: groups}, a.now)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.issue(template)
}

// Server makes a certificate for a server with these names and addresses.
func (a *Authority) Server(name string, dns []string, ips []net.IP) (Pair, error) {
	template := basics(pkix.Name{CommonName: name}, a.now)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.DNSNames, template.IPAddresses = dns, ips
	return a.issue(template)
}

func (a *Authority) issue(template *x509.Certificate) (Pair, error) {
	template.KeyUsage = x509.KeyUsageDigitalSignature
	key, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	pair, _, err := sign(template, a.cert, key, a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("cannot sign the certificate of %s: %w", template.Subject.CommonName, err)
	}
	return pair, nil
}

// SigningKey makes a key pair for service account tokens: Cert holds the public key.
func SigningKey() (Pair, error) {
	key, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	private, err := keyPEM(key)
	if err != nil {
		return Pair{}, err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return Pair{}, fmt.Errorf("cannot encode the token key: %w", err)
	}
	return Pair{Cert: encode("PUBLIC KEY", public), Key: private}, nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("cannot make a key: %w", err)
	}
	return key, nil
}

func basics(subject pkix.Name, now time.Time) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // never fails since Go 1.24
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-time.Minute), // clocks of one machine may step back
		NotAfter:     now.Add(validity),
	}
}

func sign(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) (Pair, *x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return Pair{}, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return Pair{}, nil, err
	}
	private, err := keyPEM(key)
	return Pair{Cert: encode("CERTIFICATE", der), Key: private}, cert, err
}

func keyPEM(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a key: %w", err)
	}
	return encode("EC PRIVATE KEY", der), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
