package privatedir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func take(t *testing.T, path string) *Dir {
	t.Helper()
	d, err := Take(path, "name")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOneProcessAtATime(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	first := take(t, "")
	if want := filepath.Join(os.TempDir(), "name"); first.Path() != want {
		t.Errorf("the first one is %s, want %s", first.Path(), want)
	}
	if _, err := Take(first.Path(), "name"); !errors.Is(err, ErrBusy) {
		t.Errorf("taken twice: %v", err)
	}
	if _, ok := TakeOver(first.Path()); ok {
		t.Error("taken over from a process that lives")
	}
	second := take(t, "")
	siblings, err := first.Siblings()
	if err != nil || !slices.Equal(siblings, []string{second.Path()}) || !first.Temporary(second.Path()) {
		t.Errorf("beside the first there is %v, %v; want %s, which is temporary", siblings, err, second.Path())
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(second.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the second one is left: %v", err)
	}
	if err := first.Release(); err != nil {
		t.Error(err)
	}
	if d, ok := TakeOver(first.Path()); !ok {
		t.Error("the first one cannot be taken over")
	} else if err := d.Unlock(); err != nil {
		t.Error(err)
	}
}

func TestChosenPlaceHasNoSiblings(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	take(t, "")
	chosen := take(t, filepath.Join(os.TempDir(), "name-chosen"))
	if siblings, err := chosen.Siblings(); err != nil || len(siblings) > 0 {
		t.Errorf("siblings: %v, %v", siblings, err)
	}
}

func TestNobodyElsesDirectoryIsTaken(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	target := t.TempDir()
	if err := os.Symlink(target, filepath.Join(os.TempDir(), "name")); err != nil {
		t.Fatal(err)
	}
	if d := take(t, ""); filepath.Base(d.Path()) == "name" {
		t.Error("a link was taken")
	}
	if _, ok := TakeOver(filepath.Join(os.TempDir(), "name")); ok {
		t.Error("a link was taken over")
	}
	if left, _ := os.ReadDir(target); len(left) > 0 {
		t.Errorf("written to where the link leads: %v", left)
	}
}
