package ansible

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// artifactStore keeps what runs leave behind under one budget of disk. When it is spent, the oldest runs go.
type artifactStore struct {
	root  string                // the runner directory
	max   int64                 // bytes; zero keeps nothing
	prune func(resource string) // removes the directories on the way to a resource that have become empty

	mu   sync.Mutex
	used int64
	runs []*artifact // the oldest first
}

// block is what a small file costs on disk, a directory too.
const block = 4096

// onDisk rounds a size up to what it costs.
func onDisk(size int64) int64 { return (size + block - 1) / block * block }

// openArtifacts takes stock of the artifacts below root.
func openArtifacts(root string, maxBytes int64, prune func(resource string)) (*artifactStore, error) {
	s := &artifactStore{root: root, max: maxBytes, prune: prune}
	found, err := findArtifacts(root)
	if err != nil {
		return nil, fmt.Errorf("take stock of the artifacts: %w", err)
	}
	s.runs = found
	for _, a := range found {
		a.store = s
		s.used += a.size
	}
	s.makeRoom(0)
	return s, nil
}

// begin opens the artifacts of a run, after it has removed the oldest ones of the resource, so that keep runs are
// left with this one; keep zero keeps all. It returns nil if nothing is kept or the disk refuses.
func (s *artifactStore) begin(resource, id string, keep int) *artifact {
	if s.max <= 0 {
		return nil
	}
	a := &artifact{store: s, resource: resource, id: segment(id), open: true}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rotate(resource, a.id, keep)
	if !s.take(a, 3*block) || a.create() != nil { // the run's directory, that of its events, the file status
		s.drop(a)
		return nil
	}
	s.runs = append(s.runs, a)
	return a
}

// rotate removes all but the newest keep-1 runs of a resource, and a run of the same id. s.mu is held.
func (s *artifactStore) rotate(resource, id string, keep int) {
	excess := 1 - keep
	for _, a := range s.runs {
		if a.resource == resource && a.id != id {
			excess++
		}
	}
	s.remove(func(a *artifact) bool {
		if a.resource != resource || a.id == id {
			return a.resource == resource
		}
		excess--
		return keep > 0 && excess >= 0
	})
}

// take accounts for n more bytes of a run and makes room for them. s.mu is held.
func (s *artifactStore) take(a *artifact, n int64) bool {
	if !s.makeRoom(n) {
		return false
	}
	s.used += n
	a.size += n
	return true
}

// makeRoom removes the oldest runs until n bytes are free. s.mu is held.
func (s *artifactStore) makeRoom(n int64) bool {
	if s.used+n > s.max {
		s.remove(func(*artifact) bool { return s.used+n > s.max })
	}
	return s.used+n <= s.max
}

// forget removes the runs of a resource.
func (s *artifactStore) forget(resource string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(func(a *artifact) bool { return a.resource == resource })
}

// remove removes the ended runs that are unwanted; it asks from the oldest to the newest. s.mu is held.
func (s *artifactStore) remove(unwanted func(*artifact) bool) {
	s.runs = slices.DeleteFunc(s.runs, func(a *artifact) bool {
		if a.open || !unwanted(a) {
			return false
		}
		s.drop(a)
		return true
	})
}

// drop removes the files of a run, and the directories above that have become empty.
func (s *artifactStore) drop(a *artifact) {
	_ = os.RemoveAll(a.path())
	s.used -= a.size
	a.size = 0
	latest := filepath.Join(a.dir(), "latest")
	if target, err := os.Readlink(latest); err == nil && target == a.id {
		_ = os.Remove(latest)
	}
	_ = os.Remove(a.dir()) // fails as long as there are others
	s.prune(a.resource)
}
