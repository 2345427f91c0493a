package helm

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

func TestKeepText(t *testing.T) {
	for why, tt := range map[string]struct {
		fresh, again, before string
		want                 string // empty if nothing can be kept
	}{
		"a password":                           {"aX7", "aY9", "bZ1", "bZ1"},
		"a password in a line":                 {"pw: aX7;", "pw: bY9;", "pw: bZ1;", "pw: bZ1;"},
		"another line changes":                 {"port: 2\npw: aX7", "port: 2\npw: bY9", "port: 1\npw: bZ1", "port: 2\npw: bZ1"},
		"a line is added":                      {"port: 2\nnew: x\npw: aX7", "port: 2\nnew: x\npw: bY9", "port: 1\npw: bZ1", "port: 2\nnew: x\npw: bZ1"},
		"a certificate":                        {"-----BEGIN C-----\nMIIa\nbc=\n-----END C-----\n", "-----BEGIN C-----\nMIIx\nyz=\n-----END C-----\n", "-----BEGIN C-----\nMIIo\nld=\n-----END C-----\n", "-----BEGIN C-----\nMIIo\nld=\n-----END C-----\n"},
		"a certificate of another length":      {"-----BEGIN C-----\nMIIa\n-----END C-----\n", "-----BEGIN C-----\nMIIx\nyz=\n-----END C-----\n", "-----BEGIN C-----\nMIIo\nl\nd=\n-----END C-----\n", "-----BEGIN C-----\nMIIo\nl\nd=\n-----END C-----\n"},
		"what stands around it is new":         {"postgres://u:aX7@new:5432", "postgres://u:bY9@new:5432", "postgres://u:bZ1@old:5432", ""},
		"two places in lines":                  {"a: x1\nb: y1", "a: x2\nb: y2", "a: o1\nb: o2", "a: o1\nb: o2"},
		"two places that cannot be told apart": {"- x1\n- y1\nz", "- x2\n- y2\nz", "- o1\n- o2\n- o3\nz", ""},
	} {
		got, ok := keepText(tt.fresh, tt.again, tt.before)
		if !ok {
			got = ""
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", why, diff)
		}
	}
}

func TestGeneratedKeepsWhatBelongsTogether(t *testing.T) {
	manifest := func(ca, pw, port, sum string) string {
		return "---\n# Source: c/templates/a.yaml\napiVersion: v1\nkind: Secret\nmetadata:\n  name: s\ndata:\n  ca: " + base64.StdEncoding.EncodeToString([]byte(ca)) +
			"\nstringData:\n  pw: " + pw + "\n---\nkind: Hook\napiVersion: v1\nmetadata: {name: h}\nwebhooks: [{caBundle: " + ca + "}]\n" +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {port: '" + port + "'}\n" +
			"---\nkind: Deployment\napiVersion: apps/v1\nmetadata: {name: d}\nspec: {template: {metadata: {annotations: {sum: " + sum + "}}}}\n"
	}
	for why, tt := range map[string]struct{ port, sum string }{
		"nothing else changes": {"1", "oldsum"},
		"configuration changes, of which a checksum has to change": {"2", "sum1"},
	} {
		before, err := objectsByKey(splitInOrder(manifest("oldca", "oldpw", "1", "oldsum")), "ns")
		if err != nil {
			t.Fatal(err)
		}
		g := &generated{namespace: "ns", before: before, again: func() ([]string, error) {
			return splitInOrder(manifest("ca2", "pw2", tt.port, "sum2")), nil
		}}
		out, err := g.Run(bytes.NewBufferString(manifest("ca1", "pw1", tt.port, "sum1")))
		if err != nil {
			t.Fatal(err)
		}
		got, err := normalise(out.String(), "ns")
		if err != nil {
			t.Fatal(err)
		}
		want, err := normalise(manifest("oldca", "oldpw", tt.port, tt.sum), "ns")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", why, diff)
		}
	}
}

// A post-renderer that finds nothing changes nothing.
func TestGeneratedLeavesOthersAsRendered(t *testing.T) {
	const manifest = "---\n# Source: c/templates/a.yaml\nkind: A\nmetadata: {name: a} # as written\n---\nkind: B\nmetadata: {name: b}\n"
	before, err := objectsByKey(splitInOrder(manifest), "ns")
	if err != nil {
		t.Fatal(err)
	}
	g := &generated{namespace: "ns", before: before, again: func() ([]string, error) { return splitInOrder(manifest), nil }}
	out, err := g.Run(bytes.NewBufferString(manifest))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(splitInOrder(manifest), splitInOrder(out.String())); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if !strings.Contains(out.String(), "# as written") {
		t.Error("the text was written anew")
	}
}

func TestGenerateOnce(t *testing.T) {
	w := newWorld(t)
	once := func(c *Config) { c.GenerateOnce = true }
	e := w.engine("random", once)
	job := w.job("one", nil)
	password := func() string {
		text, _, _ := unstructured.NestedString(w.get(secrets, w.namespace, "one-password").Object, "data", "password")
		return text
	}
	w.did(e, job, engine.ActionInstall)
	first := password()
	for _, user := range []string{"a", "b"} {
		job.Inputs = map[string]any{"user": user}
		w.did(e, job, engine.ActionUpgrade)
		if got := password(); got != first {
			t.Errorf("the password is %q, want %q", got, first)
		}
		e = w.engine("random", once)
	}
	w.did(e, verified(job), engine.ActionNone)
	job.Annotations = map[string]string{regenerateAnnotation: "please"}
	w.did(e, job, engine.ActionUpgrade)
	second := password()
	if second == first {
		t.Error("the password was not made anew")
	}
	job.Inputs = map[string]any{"user": "c"}
	w.did(e, job, engine.ActionUpgrade)
	if got := password(); got != second {
		t.Errorf("the password is %q, want %q", got, second)
	}
	without := w.engine("random")
	job.Annotations, job.Inputs = nil, map[string]any{"user": "d"}
	w.did(without, job, engine.ActionUpgrade)
	if password() == second {
		t.Error("the password was kept although nobody asked for that")
	}
}

// What a failed install made up stays, for what goes by it may be there already.
func TestGenerateOnceAfterAFailedInstall(t *testing.T) {
	w := newWorld(t)
	dir := copyChart(t, "random")
	writeFile(t, dir+"/templates/fail.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: '{{ .Release.Name }}'}\nspec: {ports: [{port: {{ .Values.port }}}]}\n")
	e := w.engine(dir, func(c *Config) { c.GenerateOnce = true })
	password := func() string {
		text, _, _ := unstructured.NestedString(w.get(secrets, w.namespace, "one-password").Object, "data", "password")
		return text
	}
	wrong := w.job("one", map[string]any{"port": int64(99999)})
	w.run(e, wrong, engine.Transient)
	first := password()
	w.run(e, wrong, engine.Transient)
	w.did(e, w.job("one", map[string]any{"port": int64(80)}), engine.ActionInstall)
	if got := password(); got != first {
		t.Errorf("the password is %q, want %q", got, first)
	}
}
