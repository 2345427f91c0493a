package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Where the records are, below a private directory.
const (
	subdirectory = "records"
	newerFile    = "runs"     // one record to a line, the newest last
	olderFile    = "runs.old" // what newerFile was before it was full
)

// maxMessage bounds the message of a record, in bytes.
const maxMessage = 1 << 10

// Journal appends records to a file. A nil Journal keeps nothing. It is safe for concurrent use.
//
// That a record cannot be written is no error of the run: the record is left out.
type Journal struct {
	dir  string
	max  int64       // bytes of one file
	tell func(error) // called when records begin to be lost

	mu     sync.Mutex
	file   *os.File
	size   int64
	losing bool
}

// MinBytes is the least that a journal needs.
const MinBytes = 16 << 10

// Open opens the journal in a private directory. It takes at most maxBytes of disk; less than [MinBytes] keeps nothing, and
// the journal is nil. tell is called when records begin to be lost.
func Open(private string, maxBytes int64, tell func(error)) (*Journal, error) {
	j := &Journal{dir: filepath.Join(private, subdirectory), max: maxBytes / 2, tell: tell}
	if maxBytes < MinBytes {
		return nil, j.discard()
	}
	err := os.MkdirAll(j.dir, 0o700)
	if err == nil {
		err = j.open()
	}
	if err != nil {
		return nil, fmt.Errorf("open the records of runs: %w", err)
	}
	return j, nil
}

// discard removes what an operator has left that kept records.
func (j *Journal) discard() error {
	for _, name := range []string{newerFile, olderFile} {
		if err := os.Remove(filepath.Join(j.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove old records of runs: %w", err)
		}
	}
	return nil
}

// open continues the file. A line that a killed operator has not finished gets an end of its own.
func (j *Journal) open() error {
	file, err := os.OpenFile(filepath.Join(j.dir, newerFile), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	j.file, j.size = file, info.Size()
	last := make([]byte, 1)
	if n, _ := file.ReadAt(last, max(0, j.size-1)); n == 1 && last[0] != '\n' {
		_, err = file.WriteString("\n")
		j.size++
	}
	return err
}

// Add keeps a record. One of a run that has ended takes the place of the one that it has begun.
func (j *Journal) Add(r Record) {
	if j == nil {
		return
	}
	r.Format, r.Message = format, shorten(r.Message)
	line, err := json.Marshal(r)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		err = j.write(append(line, '\n'))
	}
	if err != nil && !j.losing {
		j.tell(fmt.Errorf("keep a record of run %s: %w", r.ID, err))
	}
	j.losing = err != nil
}

// write appends a line in one piece, so that no reader sees half of one.
func (j *Journal) write(line []byte) error {
	if j.file == nil {
		return fs.ErrClosed
	}
	if j.size+int64(len(line)) > j.max {
		if err := j.rotate(); err != nil {
			return err
		}
	}
	if _, err := j.file.Write(line); err != nil {
		return errors.Join(err, j.file.Truncate(j.size)) // or the next line would continue a part of this one
	}
	j.size += int64(len(line))
	return nil
}

// rotate begins a new file. What cannot be begun is tried again with the next record.
func (j *Journal) rotate() error {
	newer := filepath.Join(j.dir, newerFile)
	if err := os.Rename(newer, filepath.Join(j.dir, olderFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(newer, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_ = j.file.Close()
	j.file, j.size = file, 0
	return nil
}

// Close ends the journal. What is added later is lost.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	file := j.file
	j.file, j.losing = nil, true
	if file == nil {
		return nil
	}
	return file.Close()
}

// shorten cuts a message to its limit, at a whole character.
func shorten(message string) string {
	const mark = "..."
	if len(message) <= maxMessage {
		return message
	}
	cut := bytes.ToValidUTF8([]byte(message[:maxMessage-len(mark)]), nil)
	return string(cut) + mark
}
