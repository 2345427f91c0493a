package fingerprint

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOf(t *testing.T) {
	write := func(t *testing.T, path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(1000, 0), time.Unix(1000, 0)); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		reason string
		change func(t *testing.T, dir string)
		same   bool
	}{
		"Nothing": {"nothing changed", func(*testing.T, string) {}, true},
		"Size":    {"a file grows", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "tasks/main.yml"), "longer") }, false},
		"Time": {"a file is written anew with the same length", func(t *testing.T, dir string) {
			if err := os.Chtimes(filepath.Join(dir, "tasks/main.yml"), time.Unix(2000, 0), time.Unix(2000, 0)); err != nil {
				t.Fatal(err)
			}
		}, false},
		"New":    {"a file comes", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "vars/main.yml"), "") }, false},
		"Gone":   {"a file goes", func(_ *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, "tasks/main.yml")) }, false},
		"All":    {"everything goes", func(_ *testing.T, dir string) { _ = os.RemoveAll(dir) }, false},
		"Hidden": {"Ansible's own files do not count", func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".ansible/tmp/x"), "") }, true},
		"Linked": {"what a link points to counts", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "../elsewhere"), "changed") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "role")
			write(t, filepath.Join(dir, "tasks/main.yml"), "short")
			write(t, filepath.Join(dir, "../elsewhere"), "x")
			if err := os.Symlink("../elsewhere", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			before := Of("v1", dir)
			tt.change(t, dir)
			if got := Of("v1", dir) == before; got != tt.same {
				t.Errorf("%s: the same %v, want %v", tt.reason, got, tt.same)
			}
			if Of("v2", dir) == before {
				t.Error("the salt does not count")
			}
		})
	}
}

func BenchmarkOf(b *testing.B) {
	dir := b.TempDir()
	for i := range 500 {
		if err := os.WriteFile(filepath.Join(dir, time.Unix(int64(i), 0).Format("150405")), nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		Of("", dir)
	}
}
