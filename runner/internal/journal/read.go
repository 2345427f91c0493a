package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// maxLine bounds what is taken for a record, in bytes.
const maxLine = 64 << 10

// In reports whether an operator has kept records in a private directory, or could have.
func In(private string) bool { return isDir(filepath.Join(private, subdirectory)) }

// Read returns the records in a private directory, one for each run, in the order in which the runs began. lives says since when
// the operator lives that writes them, zero if it does not: runs without an end that began earlier were interrupted. The error
// is [fs.ErrNotExist] if there never was a journal.
func Read(private string, lives time.Time) ([]Record, error) {
	dir := filepath.Join(private, subdirectory)
	if _, err := os.ReadDir(dir); err != nil {
		return nil, fmt.Errorf("read the records of runs: %w", err)
	}
	// The newer file first: if it becomes the older one meanwhile, its records are there twice, and none is missing.
	newer, err := readFile(filepath.Join(dir, newerFile))
	if err != nil {
		return nil, err
	}
	older, err := readFile(filepath.Join(dir, olderFile))
	if err != nil {
		return nil, err
	}
	records := merge(append(older, newer...))
	for i := range records {
		if r := &records[i]; r.State == Running && (lives.IsZero() || r.Started.Before(lives)) {
			r.State = Interrupted
		}
	}
	return records, nil
}

// merge makes one record of those of each run.
func merge(lines []Record) []Record {
	var records []Record
	index := map[string]int{}
	for _, r := range lines {
		i, known := index[r.ID]
		switch {
		case !known:
			index[r.ID] = len(records)
			records = append(records, r)
		case r.State == Ended:
			records[i] = r
		}
	}
	return records
}

// readFile returns the records of a file; none if it is not there. Lines that are none are left out: the last one may be of a
// killed operator, or of another version of the format.
func readFile(path string) ([]Record, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the records of runs: %w", err)
	}
	defer func() { _ = file.Close() }()
	var records []Record
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var r Record
		if json.Unmarshal(lines.Bytes(), &r) == nil && r.Format == format && r.ID != "" {
			records = append(records, r)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the records of runs in %s: %w", path, err)
	}
	return records, nil
}
