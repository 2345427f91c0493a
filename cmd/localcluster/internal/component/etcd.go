package component

import (
	"fmt"
	"net/url"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
)

type etcdOptions struct {
	port                int
	data, cert, key, ca string
}

func runEtcd(args []string) error {
	var o etcdOptions
	set := pflag.NewFlagSet(plan.Etcd, pflag.ContinueOnError)
	set.IntVar(&o.port, "port", 0, "port for clients")
	set.StringVar(&o.data, "data", "", "folder of the data")
	set.StringVar(&o.cert, "cert", "", "certificate of the server")
	set.StringVar(&o.key, "key", "", "key of the server")
	set.StringVar(&o.ca, "ca", "", "authority that clients are checked by")
	if err := set.Parse(args); err != nil {
		return fmt.Errorf("wrong arguments for etcd: %w", err)
	}
	server, err := embed.StartEtcd(o.config())
	if err != nil {
		return fmt.Errorf("cannot start etcd: %w", err)
	}
	return <-server.Err()
}

// config is that of a single member that nobody else may join and whose data need not survive a power failure.
func (o etcdOptions) config() *embed.Config {
	client := url.URL{Scheme: "https", Host: fmt.Sprintf("%s:%d", plan.Host, o.port)}
	cfg := embed.NewConfig()
	cfg.Name = "localcluster"
	cfg.Dir = o.data
	cfg.LogLevel = "warn"
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls = nil
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.ClientTLSInfo.CertFile, cfg.ClientTLSInfo.KeyFile = o.cert, o.key
	cfg.ClientTLSInfo.TrustedCAFile, cfg.ClientTLSInfo.ClientCertAuth = o.ca, true
	cfg.SocketOpts.ReusePort = true // the supervisor holds the port, see package supervise
	cfg.UnsafeNoFsync = true
	cfg.TickMs, cfg.ElectionMs = 100, 500 // there is nobody to wait for in an election
	cfg.SnapshotCount = 5000              // fewer entries held in memory than by default
	return cfg
}
