package ocichart

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
)

func TestParse(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	tests := []struct {
		why, text, want string
		err             error
	}{
		{"a digest", "oci://r.example.com/a/web@" + digest, "r.example.com/a/web@" + digest, nil},
		{"a port", "oci://r.example.com:5000/web@" + digest, "r.example.com:5000/web@" + digest, nil},
		{"a tag beside the digest says nothing", "oci://r.example.com/web:1.0@" + digest, "r.example.com/web@" + digest, nil},
		{"a tag alone", "oci://r.example.com/web:1.0", "", errTag},
		{"neither", "oci://r.example.com/web", "", errTag},
		{"no repository", "oci://r.example.com@" + digest, "", errReference},
		{"a digest that is none", "oci://r.example.com/web@sha256:0a", "", errReference},
		{"a path that leads elsewhere", "oci://r.example.com/../web@" + digest, "", errReference},
		{"a user in the place of a host", "oci://u:p@r.example.com/web@" + digest, "", errReference},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			got, err := Parse(test.text)
			if !errors.Is(err, test.err) || err == nil && got.String() != test.want {
				t.Errorf("%s gives %q and the error %v", test.text, got, err)
			}
		})
	}
}

func TestOnlyLoopbackDoesWithoutTLS(t *testing.T) {
	for host, want := range map[string]bool{"127.0.0.1:5000": true, "localhost": true, "[::1]:5000": true, "r.example.com": false, "10.0.0.1:5000": false} {
		if got := (Reference{Host: host}).plain(); got != want {
			t.Errorf("%s: %v", host, got)
		}
	}
}

// A chart is pulled once, with the Secret's credentials, and a later process finds it in the directory.
func TestFetch(t *testing.T) {
	r, name := startRegistry(t, "robot", "hunter2")
	dir := t.TempDir()
	open := func(credentials Credentials) *Chart {
		t.Helper()
		c, err := New(name+"@"+r.digest, dir, credentials)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if err := open(nil).Fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "credential not found") {
		t.Fatalf("a registry that wants credentials gives %v", err)
	}
	asked := 0
	c := open(func(context.Context) ([]byte, error) { asked++; return dockerConfig(name, "robot", "hunter2"), nil })
	for range 3 {
		if err := c.Fetch(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 {
		t.Errorf("the Secret was read %d times", asked)
	}
	if loaded, err := loader.Load(c.Path()); err != nil || loaded.Name() != "web" {
		t.Errorf("what was pulled is %v: %v", loaded, err)
	}
	before := r.asked()
	if err := open(nil).Fetch(t.Context()); err != nil || r.asked() != before {
		t.Errorf("the next process asks the registry %d times: %v", r.asked()-before, err)
	}
}

func TestTamperedCopyIsPulledAgain(t *testing.T) {
	r, name := startRegistry(t, "", "")
	c, err := New(name+"@"+r.digest, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Path(), []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.here = false // the next process
	if err := c.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(c.Path()); err != nil || string(again) != string(good) {
		t.Errorf("the copy was not mended: %v", err)
	}
}

// A registry that gives something else for a digest is not believed.
func TestWrongAnswerIsRefused(t *testing.T) {
	r, name := startRegistry(t, "", "")
	for digest := range r.blobs {
		if digest != r.digest {
			r.blobs[digest] = []byte("something else")
		}
	}
	c, err := New(name+"@"+r.digest, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Fetch(t.Context()); err == nil {
		t.Fatal("it was taken")
	}
	if _, err := os.Stat(c.Path()); err == nil {
		t.Error("it was kept")
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	r, name := startRegistry(t, "", "")
	c, err := New(name+"@"+r.digest, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Fetch(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// dockerConfig is what a Secret of type kubernetes.io/dockerconfigjson holds.
func dockerConfig(name, user, password string) []byte {
	host, _, _ := strings.Cut(strings.TrimPrefix(name, scheme), "/")
	auth := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	return fmt.Appendf(nil, `{"auths":{%q:{"auth":%q}}}`, host, auth)
}
