package layout

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/procs"
)

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func missing(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there (%v)", path, err)
	}
}

func TestCreate(t *testing.T) {
	for _, row := range []struct {
		why     string
		prepare func(t *testing.T, d Dir)
		want    error
	}{
		{"a new directory is made", func(*testing.T, Dir) {}, nil},
		{"an empty one is taken", func(t *testing.T, d Dir) { mkdir(t, d) }, nil},
		{"one of ours is taken again, with what lies beside", func(t *testing.T, d Dir) { lock(t, d).Release(); write(t, d.Path("notes")) }, nil},
		{"one with files of others is refused", func(t *testing.T, d Dir) { mkdir(t, d); write(t, d.Path("thesis.tex")) }, ErrForeign},
		{"a marker that another tool made is refused", func(t *testing.T, d Dir) { mkdir(t, d); write(t, d.Path(Marker)) }, ErrForeign},
		{"one in use is busy", func(t *testing.T, d Dir) { l := lock(t, d); t.Cleanup(l.Release) }, ErrBusy},
	} {
		t.Run(row.why, func(t *testing.T) {
			d := Dir(filepath.Join(t.TempDir(), "a", "b"))
			row.prepare(t, d)
			l, err := Create(d)
			if !errors.Is(err, row.want) {
				t.Fatalf("got %v, want %v", err, row.want)
			}
			if l != nil {
				l.Release()
			}
		})
	}
}

func TestExisting(t *testing.T) {
	for _, row := range []struct {
		why     string
		prepare func(t *testing.T, d Dir)
		want    error
	}{
		{"there is no directory", func(*testing.T, Dir) {}, ErrNone},
		{"an empty directory has no cluster", func(t *testing.T, d Dir) { mkdir(t, d) }, ErrNone},
		{"a cluster that ended without its supervisor", func(t *testing.T, d Dir) { lock(t, d).Release() }, nil},
		{"files of others", func(t *testing.T, d Dir) { mkdir(t, d); write(t, d.Path("thesis.tex")) }, ErrForeign},
		{"a file in place of the directory", func(t *testing.T, d Dir) { mkdir(t, Dir(filepath.Dir(string(d)))); write(t, string(d)) }, ErrForeign},
		{"a cluster that runs", func(t *testing.T, d Dir) { l := lock(t, d); t.Cleanup(l.Release) }, ErrBusy},
	} {
		t.Run(row.why, func(t *testing.T) {
			d := Dir(filepath.Join(t.TempDir(), "a", "b"))
			row.prepare(t, d)
			l, err := Existing(d)
			if !errors.Is(err, row.want) {
				t.Fatalf("got %v, want %v", err, row.want)
			}
			if l != nil {
				l.Release()
			}
		})
	}
}

func TestALockOnARemovedMarkerGuardsNothing(t *testing.T) {
	d := Dir(t.TempDir())
	file, err := os.OpenFile(d.Path(Marker), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if err := os.Remove(d.Path(Marker)); err != nil {
		t.Fatal(err)
	}
	if _, err := take(d, file); !errors.Is(err, errReplaced) {
		t.Errorf("got %v, want errReplaced", err)
	}
}

func TestRemove(t *testing.T) {
	t.Run("takes an otherwise empty directory along", func(t *testing.T) {
		d := Dir(filepath.Join(t.TempDir(), "d"))
		defer lock(t, d).Release()
		prepare(t, d)
		if err := d.Remove(); err != nil {
			t.Fatal(err)
		}
		missing(t, string(d))
	})
	t.Run("leaves files of others alone", func(t *testing.T) {
		d := Dir(filepath.Join(t.TempDir(), "d"))
		defer lock(t, d).Release()
		prepare(t, d)
		write(t, d.Path("notes"))
		if err := d.Remove(); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(string(d))
		if err != nil || len(entries) != 1 || entries[0].Name() != "notes" {
			t.Errorf("got %v (%v), want only the notes", entries, err)
		}
	})
}

func TestEverythingIsPrivate(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "d"))
	defer lock(t, d).Release()
	prepare(t, d)
	err := filepath.WalkDir(string(d), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAtResolvesLinks(t *testing.T) {
	root := t.TempDir()
	if err := os.Symlink(root, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(root, "link"):                   root,
		filepath.Join(root, "link", "new", "cluster"): filepath.Join(root, "new", "cluster"),
		filepath.Join(root, "a", "..", "b"):           filepath.Join(root, "b"),
	} {
		if got, err := At(path); err != nil || string(got) != want {
			t.Errorf("At(%s) = %s, %v; want %s", path, got, err, want)
		}
	}
}

func TestStatusSurvivesItsFile(t *testing.T) {
	d := Dir(t.TempDir())
	want := Status{Phase: Ready, Supervisor: procs.ID{PID: 1, StartTicks: 2}, Components: []Component{
		{Name: "etcd", ID: procs.ID{PID: 3, StartTicks: 4}, Restarts: 5},
	}}
	if err := WriteStatus(d, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadStatus(d)
	if err != nil {
		t.Fatal(err)
	}
	etcd, found := got.Component("etcd")
	if got.Phase != Ready || got.Supervisor != want.Supervisor || !found || etcd != want.Components[0] {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, found := got.Component("kwok"); found {
		t.Error("found a component that was never noted")
	}
	missing(t, d.Path(stateTemp))
}

func TestDamagedStatusSaysWhere(t *testing.T) {
	d := Dir(t.TempDir())
	write(t, d.Path(State))
	if _, err := ReadStatus(d); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want an error about the content", err)
	}
}

func mkdir(t *testing.T, d Dir) {
	t.Helper()
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		t.Fatal(err)
	}
}

func lock(t *testing.T, d Dir) *Lock {
	t.Helper()
	l, err := Create(d)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func prepare(t *testing.T, d Dir) {
	t.Helper()
	if err := d.Prepare(); err != nil {
		t.Fatal(err)
	}
	write(t, d.Log("etcd"))
	if err := WriteStatus(d, Status{}); err != nil {
		t.Fatal(err)
	}
}
