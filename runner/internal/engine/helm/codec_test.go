package helm

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"testing"
)

func zipped(tb testing.TB, text string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestDecodeRelease(t *testing.T) {
	const good = `{"name":"one","version":2,"info":{"status":"deployed"}}`
	tests := []struct {
		why  string
		data []byte
		good bool
	}{
		{"as Helm 3 writes it", zipped(t, good), true},
		{"as Helm 2 wrote it, without compression", []byte(good), true},
		{"no JSON", zipped(t, "{"), false},
		{"cut off", zipped(t, good)[:20], false},
		{"nothing", nil, false},
		{"no release", zipped(t, `{}`), false},
		{"null", zipped(t, `null`), false},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			rel, err := decodeRelease([]byte(base64.StdEncoding.EncodeToString(test.data)))
			if test.good && (err != nil || rel.Version != 2) {
				t.Errorf("got %+v, %v", rel, err)
			}
			if !test.good && !errors.Is(err, errCorrupt) {
				t.Errorf("error is %v, want errCorrupt", err)
			}
		})
	}
}

// FuzzDecodeRelease checks that a damaged record is an error and never more than that.
func FuzzDecodeRelease(f *testing.F) {
	f.Add([]byte(base64.StdEncoding.EncodeToString(zipped(f, `{"name":"a","info":{}}`))))
	f.Add([]byte("H4sI"))
	f.Add([]byte("bnVsbA=="))
	f.Fuzz(func(t *testing.T, data []byte) {
		rel, err := decodeRelease(data)
		if (rel == nil) == (err == nil) {
			t.Errorf("got %v and %v", rel, err)
		}
	})
}
