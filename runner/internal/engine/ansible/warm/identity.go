package warm

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall"
)

// identity is a file as a zygote has read it.
type identity struct {
	path  string
	mtime int64 // nanoseconds since 1970
	size  int64
	inode uint64 // zero: there was no such file
}

// UnmarshalJSON reads [path, mtime, size, inode].
func (f *identity) UnmarshalJSON(text []byte) error {
	parts := []any{&f.path, &f.mtime, &f.size, &f.inode}
	want := len(parts)
	if err := json.Unmarshal(text, &parts); err != nil {
		return fmt.Errorf("read the identity of a file: %w", err)
	}
	if len(parts) != want {
		return fmt.Errorf("read the identity of a file: it has %d parts, want %d", len(parts), want)
	}
	return nil
}

// changed reports whether the file is another one by now.
func (f *identity) changed() bool {
	info, err := os.Stat(f.path)
	if err != nil {
		return f.inode != 0
	}
	system, ok := info.Sys().(*syscall.Stat_t)
	return !ok || system.Ino != f.inode || info.Size() != f.size || info.ModTime().UnixNano() != f.mtime
}

// changedFile returns the first file that has changed, empty if none has.
func changedFile(files []identity) string {
	for i := range files {
		if files[i].changed() {
			return files[i].path
		}
	}
	return ""
}
