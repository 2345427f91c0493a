package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/chartbook-operator/chartbook/runner/internal/controller"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/helm"
	"github.com/chartbook-operator/chartbook/runner/internal/input"
	"github.com/chartbook-operator/chartbook/runner/internal/ocichart"
	"github.com/chartbook-operator/chartbook/runner/internal/privatedir"
	"github.com/chartbook-operator/chartbook/runner/internal/status"
	"github.com/chartbook-operator/chartbook/runner/watches"
)

// chart fills in what a chart decides.
func (e *engines) chart(w watches.Watch, c *controller.Config) error {
	made, err := e.helm(w)
	if err != nil {
		return fmt.Errorf("%s: %w", w.Position, err)
	}
	c.Engine, c.Tool, c.Executor = made, status.HelmOperator, "helm"
	c.Handover = made.Forget
	c.OnForeignChange = made.OnChange
	c.Finalizers = finalizersOf(w)
	c.Defaults.Period = periodOr(e.options.ReconcilePeriod, helmPeriod)
	c.Fingerprint = e.fingerprint(w)
	if !w.InRegistry() {
		c.Fingerprint = e.fingerprint(w, w.Chart)
	}
	c.Inputs = func(obj map[string]any, run input.Run) (map[string]any, error) {
		return input.Values(obj, w, run.Given)
	}
	return nil
}

// helm makes the engine of a chart.
func (e *engines) helm(w watches.Watch) (*helm.Engine, error) {
	config := helm.Config{
		ChartPath:    w.Chart,
		RESTConfig:   e.options.RESTConfig,
		Mapper:       e.mapper,
		Capabilities: e.capabilities,
		Records:      e.releases,
		Alone:        e.options.LeaderElection.Enabled,
		Retries:      upgradeRetries(w),
		RetryAfter:   upgradeRetryAfter(w),
		Rollback:     w.Upgrade.Remediation.Strategy == watches.RemediateRollback,
		Force:        w.Upgrade.Force,
		Wait:         w.Wait,
		GenerateOnce: w.GenerateOnce,
		Drift:        driftOf(w),
		MaxHistory:   w.MaxHistory,
		CRDs:         helm.CRDPolicy(w.CRDs),
		Adopt:        w.Adopt,
		WithoutOwner: !e.options.InjectOwnerRef,
		KeepManifest: e.options.StatusManifest,
		LogSink:      e.releaseLog,
	}
	if config.MaxHistory == 0 {
		config.MaxHistory = -1 // all
	}
	if !w.ReleaseNamespace.IsZero() {
		config.Namespace = func(owner engine.Owner) (string, error) { return releaseNamespace(w.ReleaseNamespace, owner) }
	}
	if w.InRegistry() {
		cache, err := e.options.chartCache()
		if err != nil {
			return nil, err
		}
		chart, err := ocichart.New(w.Chart, cache, e.pullSecret(w.ChartPullSecret))
		if err != nil {
			return nil, err
		}
		config.ChartPath, config.Fetch = chart.Path(), chart.Fetch
	}
	return helm.New(config)
}

var errOtherNamespace = errors.New("whoever may make a resource in one namespace must not choose another by its name; write the namespace out in watches.yaml")

// releaseNamespace returns where the release of a resource lives.
func releaseNamespace(t watches.Template, owner engine.Owner) (string, error) {
	metadata := map[string]any{"name": owner.Name, "namespace": owner.Namespace}
	namespace, _, err := t.Expand(map[string]any{"metadata": metadata})
	if err == nil && namespace == "" {
		err = fmt.Errorf("a cluster-scoped %s has no namespace to put in", owner.Kind)
	}
	if err == nil && owner.Namespace != "" && namespace != owner.Namespace && !t.Literal() {
		err = errOtherNamespace
	}
	if err != nil {
		return "", fmt.Errorf("releaseNamespace %s: %w", t, err)
	}
	return namespace, nil
}

// chartCache is where charts of registries are kept. The default must be this user's: a chart is checked once.
func (o *Options) chartCache() (string, error) {
	if o.ChartCache != "" {
		return o.ChartCache, nil
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("chartbook-charts-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the directory for charts of registries: %w", err)
	}
	if !privatedir.Own(dir) {
		return "", fmt.Errorf("charts of registries cannot be kept in %s, which is somebody else's; choose a directory by --chart-cache", dir)
	}
	return dir, nil
}

// pullSecret returns what reads the credentials for a registry; nil for a registry that wants none.
func (e *engines) pullSecret(name *watches.ObjectName) ocichart.Credentials {
	if name == nil {
		return nil
	}
	return func(ctx context.Context) ([]byte, error) {
		namespace := name.Namespace
		if namespace == "" {
			own, err := os.ReadFile(podNamespace)
			if err != nil {
				return nil, fmt.Errorf("chartPullSecret names no namespace, and this is no pod: %w", err)
			}
			namespace = strings.TrimSpace(string(own))
		}
		clients, err := kubernetes.NewForConfig(e.options.RESTConfig)
		if err != nil {
			return nil, fmt.Errorf("make a client: %w", err)
		}
		secret, err := clients.CoreV1().Secrets(namespace).Get(ctx, name.Name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("read Secret %s/%s: %w", namespace, name.Name, err)
		}
		data, ok := secret.Data[corev1.DockerConfigJsonKey]
		if !ok {
			return nil, fmt.Errorf("the Secret %s/%s has no key %s: its type must be %s", namespace, name.Name,
				corev1.DockerConfigJsonKey, corev1.SecretTypeDockerConfigJson)
		}
		return data, nil
	}
}

// releaseLog writes down what Helm said before it failed.
func (e *engines) releaseLog(job engine.Job, lines []string) {
	if job.Redact != nil {
		lines = slices.Clone(lines)
		for i := range lines {
			lines[i] = job.Redact(lines[i])
		}
	}
	e.options.Log.WithName("runner").Info("Helm's last words", "kind", job.Owner.Kind, "namespace", job.Owner.Namespace,
		"name", job.Owner.Name, "run", job.ID, "lines", lines)
}
