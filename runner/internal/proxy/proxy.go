package proxy

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// How long a connection may take to say what it wants, and may be idle.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// Children is told which kinds of objects runs make.
type Children interface {
	// Watch makes changes of children of one kind wake their owners of the other. It must not block.
	Watch(primary, child schema.GroupVersionKind)
}

// Config is what a [Proxy] needs.
type Config struct {
	// RESTConfig leads to the API server. Requests are sent with its credentials.
	RESTConfig *rest.Config
	// Discovery tells which resources are stored objects.
	Discovery Discovery
	// Children is told which kinds runs make. Nil: nobody is.
	Children Children
	// InjectOwner says whether created objects are marked as owned by the run's resource.
	InjectOwner bool
	// Port to listen on, on loopback. Default: any that is free.
	Port int
	// Log gets what is of use when looking into the proxy itself. No body, token or header is ever logged.
	Log logr.Logger
	// Rand is the source of tokens, for tests. Default: the system's.
	Rand io.Reader
	// Clock is for tests. Default: the system's.
	Clock clock.PassiveClock
}

// Proxy passes requests of runs on to the API server. It is safe for concurrent use.
type Proxy struct {
	listener    net.Listener
	certificate tls.Certificate
	ca          []byte // PEM
	upstream    *httputil.ReverseProxy
	stored      *storedResources
	children    Children
	inject      bool
	impersonate bool // the proxy's own credentials are those of an impersonated user
	log         logr.Logger
	rand        io.Reader

	mu       sync.Mutex
	sessions map[tokenHash]*Session
}

// New returns a proxy that listens, but does not answer before it is started.
func New(config Config) (*Proxy, error) {
	if config.Rand == nil {
		config.Rand = rand.Reader
	}
	if config.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	upstream, err := newUpstream(config.RESTConfig, config.Log)
	if err != nil {
		return nil, err
	}
	certificate, ca, err := newCertificate(config.Clock.Now())
	if err != nil {
		return nil, err
	}
	listener, err := listen(config.Port)
	if err != nil {
		return nil, err
	}
	return &Proxy{
		listener:    listener,
		certificate: certificate,
		ca:          ca,
		upstream:    upstream,
		stored:      newStoredResources(config.Discovery),
		children:    config.Children,
		inject:      config.InjectOwner,
		impersonate: config.RESTConfig.Impersonate.UserName != "",
		log:         config.Log,
		rand:        config.Rand,
		sessions:    map[tokenHash]*Session{},
	}, nil
}

// listen opens a port on loopback. By IPv4, as an address and not as a name, so that no client has to look a name
// up or to try IPv6 first; by IPv6 only where there is nothing else.
func listen(port int) (net.Listener, error) {
	var config net.ListenConfig
	ctx := context.Background() // listening waits for nothing
	listener, err := config.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
		listener, err = config.Listen(ctx, "tcp6", net.JoinHostPort("::1", strconv.Itoa(port)))
	}
	if err != nil {
		return nil, fmt.Errorf("open the proxy's port: %w", err)
	}
	return listener, nil
}

// URL returns the address that runs use. It is the same for all.
func (p *Proxy) URL() string { return "https://" + p.listener.Addr().String() }

// NeedLeaderElection says that the proxy runs in every replica: it acts only for who has a session.
func (p *Proxy) NeedLeaderElection() bool { return false }

// Start serves until ctx is done. Requests that are being answered then are broken off.
func (p *Proxy) Start(ctx context.Context) error {
	server := &http.Server{
		Handler:           p,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{p.certificate}, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(logr.ToSlogHandler(p.log.V(1)), slog.LevelInfo),
	}
	stopped := context.AfterFunc(ctx, func() {
		p.closeAll()
		_ = server.Close() // the listener is all that could fail to close, and it goes with the process
	})
	defer stopped()
	p.log.Info("The proxy for playbooks listens", "address", p.listener.Addr().String())
	err := server.ServeTLS(p.listener, "", "")
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve the proxy for playbooks: %w", err)
}

// closeAll ends what runs are still doing.
func (p *Proxy) closeAll() {
	p.mu.Lock()
	open := make([]*Session, 0, len(p.sessions))
	for _, s := range p.sessions {
		open = append(open, s)
	}
	p.mu.Unlock()
	for _, s := range open {
		s.Close()
	}
}
