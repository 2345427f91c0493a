package apirecord

import (
	"bytes"
	"compress/gzip"
	"io"
	"sync"
)

// Most of an answer that is read along. What is longer is counted, but not looked into.
const (
	maxObject = 4 << 20
	maxStatus = 64 << 10
)

// tappedBody keeps a copy of what is read through it, up to limit bytes, and hands that over once: when the
// body has been read to its end or is closed. A body longer than limit is handed over as nil.
type tappedBody struct {
	io.ReadCloser
	limit int
	done  func(body []byte)

	once sync.Once
	buf  bytes.Buffer
	over bool
}

// Read implements io.Reader.
func (b *tappedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.keep(p[:n])
	if err != nil {
		b.finish()
	}
	return n, err
}

// Close implements io.Closer.
func (b *tappedBody) Close() error {
	b.finish()
	return b.ReadCloser.Close()
}

func (b *tappedBody) keep(p []byte) {
	if b.over || len(p) == 0 {
		return
	}
	if b.buf.Len()+len(p) > b.limit {
		b.over = true
		b.buf = bytes.Buffer{}
		return
	}
	b.buf.Write(p)
}

func (b *tappedBody) finish() {
	b.once.Do(func() {
		body := b.buf.Bytes()
		b.over, b.buf = true, bytes.Buffer{}
		b.done(body)
	})
}

// plain returns body without its content encoding, or nil if it cannot be undone or the result is over limit.
func plain(encoding string, body []byte, limit int) []byte {
	switch encoding {
	case "", "identity":
		return body
	case "gzip":
		zipped, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil
		}
		out, err := io.ReadAll(io.LimitReader(zipped, int64(limit)+1))
		if err != nil || len(out) > limit {
			return nil
		}
		return out
	default:
		return nil
	}
}
