package ansible

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// findArtifacts returns the artifacts that runs of former processes have left below root, the oldest first. Those of
// runs that were under way are marked as interrupted.
func findArtifacts(root string) ([]*artifact, error) {
	type aged struct {
		*artifact
		modified time.Time
	}
	var found []aged
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() || filepath.Base(filepath.Dir(path)) != artifactsName {
			return nil
		}
		info, isRun := runStatus(path)
		if !isRun {
			return nil // a resource may be named "artifacts"
		}
		resource, err := filepath.Rel(root, filepath.Dir(filepath.Dir(path)))
		if err != nil {
			return err
		}
		markInterrupted(filepath.Join(path, statusFile))
		found = append(found, aged{&artifact{resource: resource, id: entry.Name(), size: treeSize(path)}, info.ModTime()})
		return fs.SkipDir
	})
	slices.SortStableFunc(found, func(a, b aged) int { return a.modified.Compare(b.modified) })
	artifacts := make([]*artifact, 0, len(found))
	for _, a := range found {
		artifacts = append(artifacts, a.artifact)
	}
	return artifacts, err
}

// statusFile is in the artifacts of every run.
const statusFile = "status"

func runStatus(dir string) (info fs.FileInfo, isRun bool) {
	info, err := os.Lstat(filepath.Join(dir, statusFile))
	return info, err == nil && info.Mode().IsRegular()
}

func markInterrupted(status string) {
	if text, err := os.ReadFile(status); err == nil && string(text) == "running" {
		_ = os.WriteFile(status, []byte("interrupted"), 0o600)
	}
}

// treeSize is what a directory and all below it cost on disk.
func treeSize(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if entry == nil {
			return err // the directory itself is gone
		}
		size += block
		if info, err := entry.Info(); err == nil && !entry.IsDir() {
			size += max(onDisk(info.Size())-block, 0)
		}
		return nil // what cannot be read costs nothing
	})
	return size
}
