package ocichart

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
)

// scheme is how a chart from a registry begins.
const scheme = "oci://"

// Reference names a chart in a registry.
type Reference struct {
	Host   string // with a port where there is one
	Path   string // of the repository
	Digest string // sha256:..., of the manifest
}

var (
	errTag       = errors.New("a tag can be moved to another chart; add @sha256:... (helm pull prints it)")
	errReference = errors.New("write it like oci://registry.example.com/charts/web@sha256:<digest>")

	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	pathForm   = regexp.MustCompile(`^[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$`)
	hostForm   = regexp.MustCompile(`^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(?::[0-9]{1,5})?$`)
)

// IsReference reports whether the chart of a watch is one in a registry.
func IsReference(text string) bool { return strings.HasPrefix(text, scheme) }

// Parse reads a reference. A tag before the digest says nothing and is dropped.
func Parse(text string) (Reference, error) {
	rest, ok := strings.CutPrefix(text, scheme)
	name, digest, pinned := strings.Cut(rest, "@")
	host, path, hasPath := strings.Cut(name, "/")
	path, _, _ = strings.Cut(path, ":")
	switch {
	case !ok || !hasPath || !hostForm.MatchString(host) || !pathForm.MatchString(path):
		return Reference{}, fmt.Errorf("%q names no chart: %w", text, errReference)
	case !pinned:
		return Reference{}, fmt.Errorf("%q has no digest: %w", text, errTag)
	case !digestForm.MatchString(digest):
		return Reference{}, fmt.Errorf("%q: %q is no digest: %w", text, digest, errReference)
	}
	return Reference{Host: host, Path: path, Digest: digest}, nil
}

// String returns the reference as a registry's client takes it.
func (r Reference) String() string { return r.Host + "/" + r.Path + "@" + r.Digest }

// hex returns the digest without its algorithm.
func (r Reference) hex() string { return strings.TrimPrefix(r.Digest, "sha256:") }

// plain reports whether the registry is spoken to without TLS: only where nobody is in between.
func (r Reference) plain() bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
