package ansible

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestEventPipe: all that was written before the end comes through, and a descendant that keeps the pipe open holds
// nothing up (AO 10.2: the old tool leaves a socket, a listener and a goroutine behind where a run could not start).
// Covers AO 10.3 no. 4.
func TestEventPipe(t *testing.T) {
	descriptors := openDescriptors(t)
	for _, straggler := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "events")
		var got strings.Builder
		pipe, err := openPipe(path, &got)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the pipe is %v, %v", info, err)
		}
		writer, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("0123456789\n", 50_000) // more than a pipe holds
		if _, err := io.WriteString(writer, text); err != nil {
			t.Error(err)
		}
		if !straggler {
			_ = writer.Close()
		}
		began := time.Now()
		pipe.close()
		if took := time.Since(began); got.String() != text || took > 10*pipeDrain {
			t.Errorf("straggler %v: %d bytes of %d came, it took %v to end", straggler, got.Len(), len(text), took)
		}
		_ = writer.Close()
	}
	if now := openDescriptors(t); now > descriptors {
		t.Errorf("%d descriptors are open, %d were", now, descriptors)
	}
	if _, err := openPipe(filepath.Join(t.TempDir(), "nowhere", "events"), io.Discard); err == nil {
		t.Error("a pipe was made where nothing can be")
	}
}
