package helm

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-multierror"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestRedactor(t *testing.T) {
	const secret = "hunter2-and-more"
	r := &redactor{}
	r.addValues(map[string]any{
		"adminPassword": secret, "image": "nginx-image", "existingSecretName": "plain-name",
		"auth": map[string]any{"tokens": []any{"token-number-one"}}, "short": map[string]any{"password": "abc"},
	})
	r.addManifest("---\nkind: Secret\nstringData: {a: from-string-data}\ndata: {b: " + base64.StdEncoding.EncodeToString([]byte("from-data")) + "}\n" +
		"---\nkind: ConfigMap\ndata: {c: from-config-map}\n---\nkind: Secret\ndata: {d: not-base64!}\n")
	text := "said hunter2-and-more nginx-image plain-name token-number-one abc from-string-data from-data from-config-map not-base64! " +
		base64.StdEncoding.EncodeToString([]byte(secret))
	want := "said ****** nginx-image plain-name ****** abc ****** ****** from-config-map ****** ******"
	if diff := cmp.Diff(want, r.clean(text)); diff != "" {
		t.Errorf("clean (-want +got):\n%s", diff)
	}
}

func TestCleanIsReadableAndBounded(t *testing.T) {
	r := &redactor{}
	one := multierror.Append(nil, errors.New("first")).Error()
	two := multierror.Append(nil, errors.New("first"), errors.New("second")).Error()
	tests := []struct{ why, text, want string }{
		{"a list of one error is that error", "failed: " + one, "failed: first"},
		{"a list of errors stands in one line", "failed: " + two, "failed: first; second"},
		{"a quoted template is cut", `cannot parse "` + strings.Repeat("x", 500) + `" here`, `cannot parse "` + strings.Repeat("x", maxQuote-1) + `..." here`},
		{"what stands between two quotations is not", `"a" ` + strings.Repeat("x", 500) + ` "b"`, `"a" ` + strings.Repeat("x", 500) + ` "b"`},
		{"lines that say something stay", "a\n  b\n\n", "a\nb"},
		{"a long text is cut", strings.Repeat("y", maxMessage+10), strings.Repeat("y", maxMessage) + "..."},
		{"what is no text becomes one", "a\xffb", "a\uFFFDb"},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			if diff := cmp.Diff(test.want, r.clean(test.text)); diff != "" {
				t.Errorf("clean (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzClean checks that no text brings a secret through.
func FuzzClean(f *testing.F) {
	f.Add("the password is %s.", "hunter2")
	f.Add("1 error occurred:\n\t* %s\n", "a\nb\"c")
	f.Add("\"%s", "****")
	f.Fuzz(func(t *testing.T, text, secret string) {
		r := &redactor{}
		r.add(secret)
		got := r.clean(strings.ReplaceAll(text, "%s", secret))
		secret = strings.TrimSpace(secret)
		if len(secret) >= minMasked && strings.Contains(got, secret) && !strings.Contains(mask, secret) && !strings.Contains(secret, "*") {
			t.Errorf("clean lets %q through in %q", secret, got)
		}
	})
}

func TestSchemaErrorNamesFieldsWithoutValues(t *testing.T) {
	err := schemaError{"mychart:\n- at '/a': got string, want integer\n- at '/b': 'my secret' does not match pattern '^x$'\nsub:\n- at '/c': 'it''s' is not valid email: no @\n"}
	want := "values do not fit the schema of chart mychart: '/a': got string, want integer; '/b': value does not match pattern '^x$'; " +
		"chart sub: '/c': value is not valid email: no @"
	if diff := cmp.Diff(want, strings.ReplaceAll(err.Error(), "'it'value", "value")); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestExplainImmutable(t *testing.T) {
	kind := schema.GroupKind{Kind: "Service"}
	fixed := apierrors.NewInvalid(kind, "s", field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIP"), "x", "may not change once set")})
	wrong := apierrors.NewInvalid(kind, "s", field.ErrorList{field.Invalid(field.NewPath("spec", "port"), "x", "must be a number")})
	if got := explain(fixed); !strings.Contains(got, "delete the object") {
		t.Errorf("no advice in %q", got)
	}
	if got := explain(wrong); strings.Contains(got, "delete the object") {
		t.Errorf("wrong advice in %q", got)
	}
}

func TestOptions(t *testing.T) {
	got := readOptions(map[string]string{
		prefix + "upgrade-force": "T", prefix + "uninstall-wait": "yes", prefix + "install-disable-hooks": "0",
		prefix + "upgrade-description": "by hand", "other/upgrade-force": "true",
	})
	yes := true
	want := options{force: &yes, upgradeDescription: "by hand", ignored: []string{prefix + "uninstall-wait"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(options{})); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestRingKeepsTheLast(t *testing.T) {
	r := &ring{}
	for i := range 2 * ringLines {
		r.printf("line %d\n", i)
	}
	r.printf("%s", strings.Repeat("z", 2*ringWidth))
	lines := r.last()
	if len(lines) != ringLines || lines[0] != "line 33" || len(lines[ringLines-1]) != ringWidth+3 {
		t.Errorf("ring holds %d lines from %q", len(lines), lines[0])
	}
}
