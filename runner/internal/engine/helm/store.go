package helm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clientv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// store keeps one release's revisions, in the format of Helm's Secrets driver. It lists metadata only, once a run,
// and reads the revisions that are needed; stock Helm reads and decodes all of them, several times an action.
type store struct {
	ctx       context.Context //nolint:containedctx // Helm's interface passes none on
	secrets   clientv1.SecretInterface
	meta      metadata.ResourceInterface
	writer    *driver.Secrets
	name      string
	owner     engine.Owner
	namespace string
	log       func(string, ...any)

	history history
	loaded  map[int]*release.Release
	stubs   map[*release.Release]bool // without content; never to be written
	level   int                       // how much has to be left out of records
	holding *holding
	stamp   func(*release.Release) // changes a revision on its way to its record; may be nil
	exact   bool                   // a revision is written only if it still is as it was listed
}

var _ driver.Driver = (*store)(nil)

func newStore(ctx context.Context, config *rest.Config, owner engine.Owner, namespace string, log func(string, ...any)) (*store, error) {
	clients, err := clientv1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for release Secrets: %w", err)
	}
	metas, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a metadata client for release Secrets: %w", err)
	}
	s := &store{
		ctx:       ctx,
		secrets:   clients.Secrets(namespace),
		meta:      metas.Resource(corev1.SchemeGroupVersion.WithResource("secrets")).Namespace(namespace),
		name:      owner.Name,
		owner:     owner,
		namespace: namespace,
		log:       log,
		loaded:    map[int]*release.Release{},
		stubs:     map[*release.Release]bool{},
	}
	s.holding = &holding{meta: s.meta, now: time.Now}
	s.writer = driver.NewSecrets(ownedSecrets{
		SecretInterface: s.secrets, owner: owner, namespace: namespace, before: s.recordOf, holding: s.holding, exact: &s.exact,
	})
	s.writer.Log = log
	return s, nil
}

// refresh lists the revisions.
func (s *store) refresh() error {
	selector := labels.Set{"owner": "helm", "name": s.name}.AsSelector().String()
	list, err := s.meta.List(s.ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return fmt.Errorf("list the revisions of release %s: %w", s.name, err)
	}
	var records []record
	for i := range list.Items {
		if r, ok := newRecord(&list.Items[i]); ok {
			records = append(records, r)
		}
	}
	s.history = sorted(records)
	clear(s.loaded)
	return nil
}

// load returns a revision with all its content.
func (s *store) load(version int) (*release.Release, error) {
	if rel, ok := s.loaded[version]; ok {
		return rel, nil
	}
	secret, err := s.secrets.Get(s.ctx, secretName(s.name, version), metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read revision %d of release %s: %w", version, s.name, err)
	}
	rel, err := decodeRelease(secret.Data["release"])
	if err != nil {
		return nil, fmt.Errorf("read revision %d of release %s in Secret %s: %w", version, s.name, secret.Name, err)
	}
	rel.Labels = customLabels(secret.Labels)
	if digest := secret.Labels[partsLabel]; digest != "" {
		if rel.Manifest, err = s.whole(rel.Manifest, digest); err != nil {
			return nil, err
		}
	}
	s.loaded[version] = rel
	return rel, nil
}

// Name implements driver.Driver.
func (s *store) Name() string { return driver.SecretsDriverName }

// Get implements driver.Driver.
func (s *store) Get(key string) (*release.Release, error) {
	if r := s.recordOf(key); r != nil {
		return s.load(r.version)
	}
	return nil, driver.ErrReleaseNotFound
}

// List implements driver.Driver.
func (s *store) List(filter func(*release.Release) bool) ([]*release.Release, error) {
	all, err := s.Query(nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(rel *release.Release) bool { return !filter(rel) }), nil
}

// Query implements driver.Driver. Helm needs the content of the newest and of the deployed revision only; of the
// others it gets name, number and status.
func (s *store) Query(want map[string]string) ([]*release.Release, error) {
	var found []*release.Release
	for i := range s.history {
		r := &s.history[i]
		if status, ok := want["status"]; ok && status != string(r.status) {
			continue
		}
		rel := s.stub(r)
		if r == s.history.last() || r.status == release.StatusDeployed {
			full, err := s.load(r.version)
			if err != nil {
				return nil, err
			}
			rel = full
		}
		found = append(found, rel)
	}
	if len(found) == 0 {
		return nil, driver.ErrReleaseNotFound
	}
	return found, nil
}

func (s *store) stub(r *record) *release.Release {
	rel := &release.Release{
		Name: s.name, Version: r.version, Labels: customLabels(r.labels),
		Info:  &release.Info{Status: r.status},
		Chart: &chart.Chart{Metadata: &chart.Metadata{}},
	}
	s.stubs[rel] = true
	return rel
}

// Create implements driver.Driver.
func (s *store) Create(key string, rel *release.Release) error {
	return s.write(rel, func(rel *release.Release) error { return s.writer.Create(key, rel) })
}

// Update implements driver.Driver.
func (s *store) Update(key string, rel *release.Release) error {
	return s.write(rel, func(rel *release.Release) error { return s.writer.Update(key, rel) })
}

// whole returns the manifest that an outline stands for; the outline itself if it is gone.
func (s *store) whole(outline, digest string) (string, error) {
	manifest, err := s.readParts(digest)
	if errors.Is(err, errCorrupt) {
		s.log("the outline of the manifest has to do: %v", err)
		return outline, nil
	}
	return manifest, err
}

// Delete implements driver.Driver. The release that it returns has no content.
func (s *store) Delete(key string) (*release.Release, error) {
	r := s.recordOf(key)
	if r == nil {
		return nil, driver.ErrReleaseNotFound
	}
	if err := s.secrets.Delete(s.ctx, key, metav1.DeleteOptions{}); err != nil {
		return nil, fmt.Errorf("delete revision %d of release %s: %w", r.version, s.name, err)
	}
	rel := s.stub(r)
	delete(s.loaded, r.version)
	hadParts := r.labels[partsLabel] != ""
	s.history = slices.DeleteFunc(s.history, func(r record) bool { return r.version == rel.Version })
	if hadParts {
		s.dropParts()
	}
	return rel, nil
}

// recordOf returns what is known of the revision in the Secret of this name, or nil.
func (s *store) recordOf(name string) *record {
	for i := range s.history {
		if secretName(s.name, s.history[i].version) == name {
			return &s.history[i]
		}
	}
	return nil
}

func secretName(name string, version int) string {
	return fmt.Sprintf("%s.%s.v%d", storage.HelmStorageType, name, version)
}

// customLabels returns the labels of a release Secret that are not Helm's own.
func customLabels(all map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range all {
		if !slices.Contains(driver.GetSystemLabels(), key) {
			out[key] = value
		}
	}
	return out
}
