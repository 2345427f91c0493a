package helm

import (
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/releaseutil"
	"sigs.k8s.io/yaml"
)

// How long texts may get, in bytes.
const (
	maxMessage = 4 << 10
	maxQuote   = 96 // of a quoted text in an error, which may be a whole template
	minMasked  = 4  // shorter values are too common to be masked
)

const mask = "******"

// redactor keeps secrets out of texts: values under keys that sound like secrets, and what Secrets hold.
type redactor struct {
	secrets []string
}

// secretKey matches keys of values that hold secrets; plainKey those that only name one.
var (
	secretKey = regexp.MustCompile(`(?i)pass(word|wd|phrase)?$|secret|token|credential|private_?key|api_?key`)
	plainKey  = regexp.MustCompile(`(?i)(name|namespace|ref|^key|^type)$`)
)

// addValues learns the secrets among a resource's values.
func (r *redactor) addValues(values map[string]any) { r.walk(values, false) }

func (r *redactor) walk(v any, secret bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			r.walk(value, (secret || secretKey.MatchString(key)) && !plainKey.MatchString(key))
		}
	case []any:
		for _, value := range v {
			r.walk(value, secret)
		}
	case string:
		if secret {
			r.add(v)
		}
	}
}

// addManifest learns what the Secrets of a manifest hold.
func (r *redactor) addManifest(manifest string) {
	for _, text := range releaseutil.SplitManifests(manifest) {
		if strings.Contains(text, "Secret") {
			r.addSecret(text)
		}
	}
}

func (r *redactor) addSecret(text string) {
	var obj struct {
		Kind       string            `json:"kind"`
		Data       map[string][]byte `json:"data"`
		StringData map[string]string `json:"stringData"`
	}
	if err := yaml.Unmarshal([]byte(text), &obj); err != nil {
		r.addLoose(text)
		return
	}
	if obj.Kind != "Secret" {
		return
	}
	for _, value := range obj.Data {
		r.add(string(value))
	}
	for _, value := range obj.StringData {
		r.add(value)
	}
}

// addLoose learns from a Secret that does not fit the type, like one whose data is no base64.
func (r *redactor) addLoose(text string) {
	var obj map[string]any
	if err := yaml.Unmarshal([]byte(text), &obj); err != nil || obj["kind"] != "Secret" {
		return
	}
	r.walk(obj["data"], true)
	r.walk(obj["stringData"], true)
}

func (r *redactor) add(secret string) {
	secret = strings.TrimSpace(secret)
	if len(secret) < minMasked {
		return
	}
	for _, form := range forms(secret) {
		if !slices.Contains(r.secrets, form) {
			r.secrets = append(r.secrets, form)
		}
	}
	// The longest first, so that no part of a masked text is left over.
	slices.SortFunc(r.secrets, func(a, b string) int { return len(b) - len(a) })
}

// masked returns a text without secrets.
func (r *redactor) masked(text string) string {
	for _, secret := range r.secrets {
		text = strings.ReplaceAll(text, secret, mask)
	}
	return text
}

var (
	listing = regexp.MustCompile(`\d+ errors? occurred:\s*\* `)
	items   = regexp.MustCompile(`\s*\n\s*\* `)
	blanks  = regexp.MustCompile(`[ \t]*\n\s*`)
	quoted  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// clean returns a text that is fit for status, events and logs: without secrets, of bounded length, and with the
// listings of Helm's error library made readable.
func (r *redactor) clean(text string) string {
	text = r.masked(text)
	text = listing.ReplaceAllString(text, "")
	text = items.ReplaceAllString(text, "; ")
	text = blanks.ReplaceAllString(strings.TrimSpace(text), "\n")
	text = quoted.ReplaceAllStringFunc(text, func(s string) string {
		if len(s) < maxQuote+len(`""`) {
			return s
		}
		return strings.ToValidUTF8(s[:maxQuote], "") + `..."`
	})
	if len(text) > maxMessage {
		text = text[:maxMessage] + "..."
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
