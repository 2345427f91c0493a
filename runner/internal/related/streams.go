package related

// How many objects of a kind and namespace are followed one by one, which needs no right but for these names. With more,
// one watch follows all of the kind in the namespace, until there are few again.
const (
	manyNames = 10
	fewNames  = 5
)

// users are the links by name to one place.
type users struct {
	links map[*link]struct{}
	names map[string]int // how many links refer to each
	whole bool           // all of the place is followed
}

// connect makes streams for links and uses those that are there. The lock must be held.
func (r *Registry) connect(links []*link) {
	for _, l := range links {
		at := place{l.gvk, l.namespace}
		if l.selector != "" {
			r.stream(streamKey{place: at, selector: l.selector}).attach(l)
			continue
		}
		u := r.places[at]
		if u == nil {
			u = &users{links: map[*link]struct{}{}, names: map[string]int{}}
			r.places[at] = u
		}
		u.links[l] = struct{}{}
		u.names[l.name]++
		if !u.whole && len(u.names) > manyNames {
			u.whole = true
			r.move(at, u)
			continue
		}
		r.stream(u.keyOf(at, l)).attach(l)
	}
}

// disconnect lets go of links that were replaced. The lock must be held.
func (r *Registry) disconnect(links []*link) {
	for _, l := range links {
		r.leave(l)
		at := place{l.gvk, l.namespace}
		u := r.places[at]
		if l.selector != "" || u == nil {
			continue
		}
		delete(u.links, l)
		if u.names[l.name]--; u.names[l.name] == 0 {
			delete(u.names, l.name)
		}
		switch {
		case len(u.links) == 0:
			delete(r.places, at)
		case u.whole && len(u.names) <= fewNames:
			u.whole = false
			r.move(at, u)
		}
	}
}

// move brings all links of a place to the streams that they should use now.
func (r *Registry) move(at place, u *users) {
	for l := range u.links {
		before := l.stream
		r.stream(u.keyOf(at, l)).attach(l)
		if before != nil && before != l.stream {
			before.detach(l)
			r.drop(before)
		}
	}
}

func (u *users) keyOf(at place, l *link) streamKey {
	if u.whole {
		return streamKey{place: at}
	}
	return streamKey{place: at, name: l.name}
}

// stream returns the stream for a key and starts it if it is new.
func (r *Registry) stream(key streamKey) *stream {
	s := r.streams[key]
	if s == nil {
		s = newStream(r, key)
		r.streams[key] = s
		if r.begin != nil {
			r.begin(s)
		}
	}
	return s
}

// leave detaches a link and ends its stream if that was the last.
func (r *Registry) leave(l *link) {
	if l.stream != nil {
		l.stream.detach(l)
		r.drop(l.stream)
		l.stream = nil
	}
}

// drop ends a stream that nobody uses.
func (r *Registry) drop(s *stream) {
	if len(s.links) > 0 || r.streams[s.key] != s {
		return
	}
	delete(r.streams, s.key)
	if s.cancel != nil {
		s.cancel()
	}
}
