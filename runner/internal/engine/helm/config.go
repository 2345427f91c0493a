package helm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// Defaults of Config.
const (
	DefaultMaxHistory  = 10
	DefaultHookTimeout = 5 * time.Minute
	DefaultGrace       = 5 * time.Second
	DefaultMemory      = 10_000
)

// Config is what an engine needs to know.
type Config struct {
	// ChartPath is the directory or archive of the chart. It is read at the first run, and again when it changes.
	ChartPath string
	// Fetch, if set, sees to it that the chart is at ChartPath. It is called before each use of the chart.
	Fetch func(context.Context) error
	// RESTConfig reaches the API server. Connections are shared by all runs.
	RESTConfig *rest.Config
	// Mapper knows the cluster's kinds. It is shared by all runs and must learn of new kinds by itself.
	Mapper meta.RESTMapper
	// Capabilities of the cluster, for sharing among engines. Default: the engine's own.
	Capabilities *Capabilities
	// Records tells what others do to releases. Nil: nobody else does anything to them.
	Records *Records
	// MaxHistory is how many revisions of a release are kept. Default 10; negative keeps all.
	MaxHistory int
	// Retries is how often an upgrade to the same inputs is tried again after it has failed. Default 4; negative means
	// never.
	Retries int
	// RetryAfter says how long to wait after so many failures in a row. Nil leaves that to the controller.
	RetryAfter func(failures int) time.Duration
	// Rollback goes back to the last good revision when an upgrade is not tried again. Default: it stays as it is.
	Rollback bool
	// Force makes objects anew that an upgrade cannot change in place, unless the resource's annotation says otherwise.
	Force bool
	// GenerateOnce keeps what templates make up, like passwords, from one revision to the next.
	GenerateOnce bool
	// Wait says that a release is good only when its objects are ready.
	Wait bool
	// Drift is what happens about objects that differ from the release. Default: they are put right.
	Drift Drift
	// CRDs is what becomes of the definitions in the chart's crds directories. Default [CRDCreate].
	CRDs CRDPolicy
	// Adopt takes over objects that exist already and belong to nobody, instead of failing. Default false.
	Adopt bool
	// HookTimeout bounds each hook, within the job's own timeout. Default 5 minutes.
	HookTimeout time.Duration
	// Grace is how long a run that was ended may take to write down that it was. Default 5 seconds.
	Grace time.Duration
	// Alone says that no other operator can be at work on the releases, since leader election sees to that. Else a revision
	// that is unfinished is left alone for as long as another operator claims it.
	Alone bool
	// Namespace returns the namespace of a resource's release. Default: the resource's own, which one that is
	// cluster-scoped does not have.
	Namespace func(engine.Owner) (string, error)
	// WithoutOwner leaves owner references and owner annotations off the objects.
	WithoutOwner bool
	// KeepManifest fills Release.Manifest also when nothing was done, at the cost of keeping it in memory.
	KeepManifest bool
	// Memory is for how many resources the last good run is remembered. Default 10 000.
	Memory int
	// LogSink, if set, gets Helm's own last log lines when a run has failed. It may be called concurrently.
	LogSink func(job engine.Job, lines []string)
	// Clock is for tests. Default: the real one.
	Clock clock.PassiveClock
}

// Drift is what happens about objects that differ from the release.
type Drift string

// What may happen.
const (
	DriftCorrect Drift = ""       // they are put right
	DriftDetect  Drift = "detect" // they are named in Result.Drift
	DriftOff     Drift = "off"    // nobody looks
)

// New returns an engine for one chart. The chart need not exist yet: a broken one is the business of Ready and of
// each run, and does not stand in the way of cleaning up.
func New(cfg Config) (*Engine, error) {
	if cfg.ChartPath == "" || cfg.RESTConfig == nil || cfg.Mapper == nil {
		return nil, errors.New("make a helm engine: ChartPath, RESTConfig and Mapper are required")
	}
	cfg = cfg.withDefaults()
	base, host, err := connect(cfg.RESTConfig)
	if err != nil {
		return nil, err
	}
	return &Engine{
		cfg:    cfg,
		charts: &chartSource{path: cfg.ChartPath, clock: cfg.Clock},
		base:   base,
		host:   host,
		good:   lru.New(cfg.Memory),
		vain:   lru.New(4 * cfg.Memory),
		claims: lru.New(cfg.Memory),
	}, nil
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Capabilities == nil {
		c.Capabilities = NewCapabilities(c.Clock)
	}
	if c.MaxHistory == 0 {
		c.MaxHistory = DefaultMaxHistory
	}
	if c.Retries == 0 {
		c.Retries = DefaultRetries
	}
	c.Retries = max(c.Retries, 0)
	if c.HookTimeout == 0 {
		c.HookTimeout = DefaultHookTimeout
	}
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	if c.Memory <= 0 {
		c.Memory = DefaultMemory
	}
	return c
}

// connect returns the transport that all runs share, with TLS and credentials, and the server's URL.
func connect(config *rest.Config) (http.RoundTripper, string, error) {
	base, err := rest.TransportFor(config)
	if err != nil {
		return nil, "", fmt.Errorf("make a transport to the API server: %w", err)
	}
	url, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, "", fmt.Errorf("find the API server's address: %w", err)
	}
	return base, url.String(), nil
}
