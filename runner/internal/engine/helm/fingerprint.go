package helm

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
)

// Limits for the files of a chart, against loops of symbolic links.
const (
	maxChartDepth = 32
	maxChartFiles = 20_000
)

var (
	errDepth = errors.New("too many nested directories")
	errFiles = errors.New("too many files")
)

// fingerprint tells whether a chart's files may have changed, by their names, sizes and times only. Symbolic links
// are followed, so that a mounted ConfigMap is seen to change.
func fingerprint(path string) (string, error) {
	f := &fingerprinter{hash: sha256.New()}
	if err := f.add(path, 0); err != nil {
		return "", err
	}
	return hex.EncodeToString(f.hash.Sum(nil)), nil
}

type fingerprinter struct {
	hash  hash.Hash
	files int
}

func (f *fingerprinter) add(path string, depth int) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if f.files++; f.files > maxChartFiles {
		return fmt.Errorf("%s: %w", path, errFiles)
	}
	fmt.Fprintf(f.hash, "%q %v %d %d\n", path, info.Mode(), info.Size(), info.ModTime().UnixNano())
	if !info.IsDir() {
		return nil
	}
	if depth == maxChartDepth {
		return fmt.Errorf("%s: %w", path, errDepth)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := f.add(filepath.Join(path, entry.Name()), depth+1); err != nil {
			return err
		}
	}
	return nil
}
