package plan

import (
	"strconv"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
)

// What the cluster's networks look like from inside. Nothing routes there; fake Pods get addresses from it.
const (
	serviceCIDR = "10.96.0.0/16"
	ServiceIP   = "10.96.0.1"
	podCIDR     = "10.244.0.1/16"
	issuer      = "https://kubernetes.default.svc.cluster.local"
)

// verbosity keeps logs to what explains a failure; from 1 on, each start would list all its flags.
const verbosity = "0"

// etcd takes no flags of the real etcd, only what its embedded configuration needs.
func etcd(p Ports) []string {
	return flags(map[string]string{
		"port": strconv.Itoa(p.Etcd),
		"data": layout.Etcd,
		"cert": Cert("etcd-server"),
		"key":  Key("etcd-server"),
		"ca":   Cert("etcd-ca"),
	})
}

func apiServer(p Ports) []string {
	return flags(map[string]string{
		"bind-address":      Host,
		"secure-port":       strconv.Itoa(p.APIServer),
		"advertise-address": Host,
		// The supervisor keeps the port bound between two lives of the server, so nobody else can take it.
		"permit-port-sharing": "true",
		// There is one server and no network that could reach it under the address of the Service "kubernetes".
		"endpoint-reconciler-type": "none",
		"service-cluster-ip-range": serviceCIDR,

		"etcd-servers":  "https://" + Host + ":" + strconv.Itoa(p.Etcd),
		"etcd-cafile":   Cert("etcd-ca"),
		"etcd-certfile": Cert("etcd-client"),
		"etcd-keyfile":  Key("etcd-client"),

		"authorization-mode":               "Node,RBAC",
		"client-ca-file":                   Cert("ca"),
		"tls-cert-file":                    Cert("apiserver"),
		"tls-private-key-file":             Key("apiserver"),
		"cert-dir":                         layout.PKI,
		"service-account-issuer":           issuer,
		"service-account-key-file":         Cert("tokens"),
		"service-account-signing-key-file": Key("tokens"),

		// Aggregated API servers check the front proxy by its own authority.
		"requestheader-client-ca-file":       Cert("proxy-ca"),
		"requestheader-allowed-names":        "front-proxy-client",
		"requestheader-username-headers":     "X-Remote-User",
		"requestheader-group-headers":        "X-Remote-Group",
		"requestheader-extra-headers-prefix": "X-Remote-Extra-",
		"proxy-client-cert-file":             Cert("proxy-client"),
		"proxy-client-key-file":              Key("proxy-client"),

		"allow-privileged": "true", // as on any cluster that charts are written for
		"profiling":        "false",
		"v":                verbosity,
	})
}

func controllerManager() []string {
	return flags(map[string]string{
		"kubeconfig":                       Config(ControllerManager),
		"leader-elect":                     "false",
		"secure-port":                      "0",
		"profiling":                        "false",
		"service-account-private-key-file": Key("tokens"),
		"root-ca-file":                     Cert("ca"),
		"cluster-signing-cert-file":        Cert("ca"),
		"cluster-signing-key-file":         Key("ca"),
		"service-cluster-ip-range":         serviceCIDR,
		// Tests create and delete in bursts; a client-side limit would only slow them down.
		"kube-api-qps":   "500",
		"kube-api-burst": "1000",
		// A busy machine must not make the fake node look dead, which would evict every Pod.
		"node-monitor-period":       "2s",
		"node-monitor-grace-period": "10m",
		// Its default is outside of our directory, and would be created.
		"flex-volume-plugin-dir": layout.Tmp,
		"v":                      verbosity,
	})
}

func scheduler() []string {
	return flags(map[string]string{
		"kubeconfig":     Config(Scheduler),
		"leader-elect":   "false",
		"secure-port":    "0",
		"profiling":      "false",
		"kube-api-qps":   "500",
		"kube-api-burst": "1000",
		"v":              verbosity,
	})
}

func kwok() []string {
	return flags(map[string]string{
		"kubeconfig":       Config(Kwok),
		"config":           Stages,
		"manage-all-nodes": "true",
		"cidr":             podCIDR,
		"node-ip":          Host,
		// With leases, kwok would wait after a restart until the lease of its former self has run out.
		"node-lease-duration-seconds": "0",
		"v":                           "WARN",
	})
}

// Stages is the file that tells kwok how fake objects live.
const Stages = layout.Conf + "/kwok.yaml"
