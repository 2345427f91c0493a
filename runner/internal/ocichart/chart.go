package ocichart

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"helm.sh/helm/v3/pkg/registry"
)

// Chart is a chart in a registry and its copy on disk. It is safe for concurrent use.
type Chart struct {
	reference   Reference
	dir         string
	credentials Credentials

	lock chan struct{} // held by whoever has put something in; waiting for it can be given up
	here bool          // the copy is there and was checked
}

// Credentials returns what a registry is told about who asks: a file like ~/.docker/config.json, which is also what a
// Secret of type kubernetes.io/dockerconfigjson holds. Nil means nobody.
type Credentials func(context.Context) ([]byte, error)

// New returns the chart that reference names. Its copy is kept in dir, which need not exist yet. credentials may be
// nil.
func New(reference, dir string, credentials Credentials) (*Chart, error) {
	r, err := Parse(reference)
	if err != nil {
		return nil, err
	}
	return &Chart{reference: r, dir: dir, credentials: credentials, lock: make(chan struct{}, 1)}, nil
}

// Path returns where the chart's archive is once it was fetched.
func (c *Chart) Path() string { return filepath.Join(c.dir, c.reference.hex()+".tgz") }

// manifestPath is where the manifest is kept.
func (c *Chart) manifestPath() string { return filepath.Join(c.dir, c.reference.hex()+".json") }

// Fetch sees to it that the archive is there and what the digest says. It asks the registry only for what is not in
// the directory.
func (c *Chart) Fetch(ctx context.Context) error {
	select {
	case c.lock <- struct{}{}:
		defer func() { <-c.lock }()
	case <-ctx.Done():
		return fmt.Errorf("fetch chart %s: %w", c.reference, ctx.Err())
	}
	if c.here {
		if _, err := os.Stat(c.Path()); err == nil {
			return nil
		}
		c.here = false
	}
	if err := c.check(); err != nil {
		if err := c.pull(ctx); err != nil {
			return fmt.Errorf("fetch chart %s: %w", c.reference, err)
		}
	}
	c.here = true
	return nil
}

var (
	errTampered = errors.New("it is not what its digest says")
	errNoLayer  = errors.New("the manifest has no chart in it")
)

// check compares the copy with the digest.
func (c *Chart) check() error {
	manifest, err := os.ReadFile(c.manifestPath())
	if err != nil {
		return err
	}
	archive, err := os.ReadFile(c.Path())
	if err != nil {
		return err
	}
	return c.verify(manifest, archive)
}

func (c *Chart) verify(manifest, archive []byte) error {
	if sum(manifest) != c.reference.Digest {
		return fmt.Errorf("manifest of %s: %w", c.reference, errTampered)
	}
	var content struct {
		Layers []struct {
			MediaType string `json:"mediaType"`
			Digest    string `json:"digest"`
		} `json:"layers"`
	}
	if err := json.Unmarshal(manifest, &content); err != nil {
		return fmt.Errorf("read the manifest of %s: %w", c.reference, err)
	}
	for _, layer := range content.Layers {
		if layer.MediaType != registry.ChartLayerMediaType && layer.MediaType != registry.LegacyChartLayerMediaType {
			continue
		}
		if sum(archive) != layer.Digest {
			return fmt.Errorf("archive of %s: %w", c.reference, errTampered)
		}
		return nil
	}
	return errNoLayer
}

func sum(data []byte) string {
	digest := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(digest[:])
}

// keep writes the copy. The archive comes last, and both appear as a whole.
func (c *Chart) keep(manifest, archive []byte) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	if err := write(c.manifestPath(), manifest); err != nil {
		return err
	}
	return write(c.Path(), archive)
}

// write writes a file under another name first.
func write(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		if left := os.Remove(file.Name()); left != nil && !errors.Is(left, fs.ErrNotExist) {
			err = errors.Join(err, left)
		}
	}
	return err
}
