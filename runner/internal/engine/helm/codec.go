package helm

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"helm.sh/helm/v3/pkg/release"
)

// maxRelease bounds a decompressed release record, in bytes.
const maxRelease = 256 << 20

var errCorrupt = errors.New("the release record is damaged")

// decodeRelease reads what Helm keeps in a release Secret: JSON, compressed since Helm 3, in base64. Helm's own
// decoder panics on a damaged record.
func decodeRelease(data []byte) (*release.Release, error) {
	raw, err := base64.StdEncoding.DecodeString(string(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b, 0x08}) {
		if raw, err = gunzip(raw); err != nil {
			return nil, fmt.Errorf("%w: %w", errCorrupt, err)
		}
	}
	var rel release.Release
	if err := json.Unmarshal(raw, &rel); err != nil {
		return nil, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	if rel.Name == "" || rel.Info == nil {
		return nil, fmt.Errorf("%w: it has no name or no info", errCorrupt)
	}
	return &rel, nil
}

func gunzip(data []byte) ([]byte, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(zipped, maxRelease+1))
	if err != nil {
		return nil, err
	}
	if len(plain) > maxRelease {
		return nil, errors.New("it is too large")
	}
	return plain, nil
}
