// Package kube asks an API server the few things that a local cluster must know, over plain HTTP: client-go would be
// a large dependency for three requests.
package kube

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ErrNotFound and ErrExists are the answers that callers tell apart.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("already exists")
)

// requestTimeout bounds one request; an API server on the same machine that takes longer is as good as down.
const requestTimeout = 10 * time.Second

// Client talks to one API server.
type Client struct {
	server    string
	http      *http.Client
	transport *http.Transport // the one that http uses
	token     string
}

// New makes a client from PEM data.
func New(server string, authority, cert, key []byte) (*Client, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, errors.New("the certificate authority is not PEM")
	}
	config := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	if cert != nil {
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("cannot use the client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	return newClient(server, "", transport), nil
}

// WithToken is a client that shows a bearer token instead of a certificate.
func (c *Client) WithToken(token string) *Client {
	transport := c.transport.Clone()
	transport.TLSClientConfig.Certificates = nil
	return newClient(c.server, token, transport)
}

func newClient(server, token string, transport *http.Transport) *Client {
	return &Client{
		server: server, token: token, transport: transport,
		http: &http.Client{Transport: transport, Timeout: requestTimeout},
	}
}

// Get reads an object, or a text if into is a *string.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.Do(ctx, http.MethodGet, path, nil, into)
}

// Do sends one request with a JSON body and decodes the answer.
func (c *Client) Do(ctx context.Context, method, path string, body, into any) error {
	return c.send(ctx, method, path, "application/json", body, into)
}

// Patch changes an object by a JSON patch.
func (c *Client) Patch(ctx context.Context, path string, operations any) error {
	return c.send(ctx, http.MethodPatch, path, "application/json-patch+json", operations, nil)
}

func (c *Client) send(ctx context.Context, method, path, contentType string, body, into any) error {
	request, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", contentType)
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return failure(method, path, response.StatusCode, raw)
	}
	return decode(raw, into)
}

func (c *Client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var payload io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("cannot encode the body for %s: %w", path, err)
		}
		payload = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, payload)
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	return request, nil
}

func failure(method, path string, code int, body []byte) error {
	var status struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &status) != nil || status.Message == "" {
		status.Message = string(bytes.TrimSpace(body[:min(len(body), 512)]))
	}
	err := fmt.Errorf("%s %s: %d: %s", method, path, code, status.Message)
	switch code {
	case http.StatusNotFound:
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case http.StatusConflict:
		return fmt.Errorf("%w: %w", ErrExists, err)
	}
	return err
}

func decode(raw []byte, into any) error {
	switch into := into.(type) {
	case nil:
		return nil
	case *string:
		*into = string(raw)
		return nil
	}
	return json.Unmarshal(raw, into)
}
