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
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
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
	// Kinds follows the kinds that the API server serves, so that what it says of them can be answered from memory for as
	// long as nothing changes. Nil, or without the right to watch CustomResourceDefinitions and APIServices: it is asked
	// now and then whether something has.
	Kinds metadata.Interface
	// Children is told which kinds runs make. Nil: nobody is.
	Children Children
	// InjectOwner says whether created objects are marked as owned by the run's resource.
	InjectOwner bool
	// Port to listen on, on loopback. Default: any that is free.
	Port int
	// SidecarPort, if not zero, is another port on loopback that serves plain HTTP to whoever asks, with the proxy's own
	// rights. What is created there is marked as nobody's.
	SidecarPort int
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
	asker       asker
	memory      *memory
	kinds       metadata.Interface
	sidecars    net.Listener // nil: there is no such port
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
	way, transport, err := newAsker(config.RESTConfig)
	if err != nil {
		return nil, err
	}
	certificate, ca, err := newCertificate(config.Clock.Now())
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		certificate: certificate,
		ca:          ca,
		upstream:    newUpstream(way.target, transport, config.Log),
		asker:       way,
		memory:      newMemory(way, config.Clock),
		kinds:       config.Kinds,
		children:    config.Children,
		inject:      config.InjectOwner,
		impersonate: config.RESTConfig.Impersonate.UserName != "",
		log:         config.Log,
		rand:        config.Rand,
		sessions:    map[tokenHash]*Session{},
	}
	p.stored = newStoredResources(p.memory)
	transport.answered = p.answered
	if err := p.listen(config); err != nil {
		return nil, err
	}
	return p, nil
}

// listen opens the ports.
func (p *Proxy) listen(config Config) error {
	var err error
	if p.listener, err = listen(config.Port); err != nil {
		return fmt.Errorf("%w; choose another port with --proxy-port", err)
	}
	if config.SidecarPort == 0 {
		return nil
	}
	if p.sidecars, err = listen(config.SidecarPort); err != nil {
		_ = p.listener.Close() // nobody has used it
		return fmt.Errorf("%w; choose another port with --proxy-sidecar-port", err)
	}
	return nil
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
	group, ctx := errgroup.WithContext(ctx)
	defer p.memory.end()
	if p.kinds != nil {
		p.memory.follow(ctx, group, p.kinds, p.log)
	}
	p.log.Info("The proxy for playbooks listens", "address", p.listener.Addr().String())
	group.Go(func() error {
		server := p.server(p)
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{p.certificate}, MinVersion: tls.VersionTLS12}
		stopped := context.AfterFunc(ctx, func() { p.closeAll(); _ = server.Close() })
		defer stopped()
		return endOf(server.ServeTLS(p.listener, "", ""))
	})
	if p.sidecars != nil {
		group.Go(func() error { return p.serveSidecars(ctx) })
	}
	return group.Wait()
}

func (p *Proxy) server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(logr.ToSlogHandler(p.log.V(1)), slog.LevelInfo),
	}
}

// endOf says how a server came to its end; to be closed is none that is worth a word.
func endOf(err error) error {
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
