package ansible

import (
	"container/list"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// artifactStore keeps what runs leave behind under one budget of disk. When it is spent, the oldest runs go.
type artifactStore struct {
	root  string                // the runner directory
	max   int64                 // bytes; zero keeps nothing
	prune func(resource string) // removes the directories on the way to a resource that have become empty

	mu   sync.Mutex
	used int64
	runs *list.List // of *artifact, the oldest first
}

// block is what a small file costs on disk, a directory too.
const block = 4096

// onDisk rounds a size up to what it costs.
func onDisk(size int64) int64 { return (size + block - 1) / block * block }

// openArtifacts takes stock of the artifacts below root.
func openArtifacts(root string, maxBytes int64, prune func(resource string)) (*artifactStore, error) {
	s := &artifactStore{root: root, max: maxBytes, prune: prune, runs: list.New()}
	found, err := findArtifacts(root)
	if err != nil {
		return nil, fmt.Errorf("take stock of the artifacts: %w", err)
	}
	for _, a := range found {
		a.store = s
		s.used += a.size
		s.runs.PushBack(a)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
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
	s.runs.PushBack(a)
	return a
}

// rotate removes all but the newest keep-1 runs of a resource, and a run of the same id. s.mu is held.
func (s *artifactStore) rotate(resource, id string, keep int) {
	count := 0
	for e := s.runs.Back(); e != nil; {
		a, previous := e.Value.(*artifact), e.Prev()
		if a.resource == resource && !a.open {
			count++
			if a.id == id || keep > 0 && count >= keep {
				s.remove(e)
			}
		}
		e = previous
	}
}

// take accounts for n more bytes of a run and makes room for them. s.mu is held.
func (s *artifactStore) take(a *artifact, n int64) bool {
	if s.used+n > s.max && !s.makeRoom(n) {
		return false
	}
	s.used += n
	a.size += n
	return true
}

// makeRoom removes the oldest ended runs until n bytes are free. s.mu is held.
func (s *artifactStore) makeRoom(n int64) bool {
	for e := s.runs.Front(); e != nil && s.used+n > s.max; {
		next := e.Next()
		if !e.Value.(*artifact).open {
			s.remove(e)
		}
		e = next
	}
	return s.used+n <= s.max
}

func (s *artifactStore) remove(e *list.Element) {
	s.drop(e.Value.(*artifact))
	s.runs.Remove(e)
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

// forget removes all ended runs of a resource.
func (s *artifactStore) forget(resource string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := s.runs.Front(); e != nil; {
		next := e.Next()
		if a := e.Value.(*artifact); a.resource == resource && !a.open {
			s.remove(e)
		}
		e = next
	}
}
