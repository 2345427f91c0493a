package process

import (
	"bytes"
	"testing"
)

func TestCapture(t *testing.T) {
	tests := []struct {
		why        string
		head, tail int
		writes     []string
		want       string
	}{
		{"nothing written", 3, 3, nil, ""},
		{"all fits in the head", 3, 3, []string{"a", "bc"}, "abc"},
		{"all fits, in both", 3, 3, []string{"abcd", "ef"}, "abcdef"},
		{"one byte too many", 3, 3, []string{"abcdefg"}, "abc\n[1 bytes omitted]\nefg"},
		{"many small writes", 2, 2, []string{"a", "b", "c", "d", "e", "f", "g", "h"}, "ab\n[4 bytes omitted]\ngh"},
		{"a write larger than everything", 1, 2, []string{"0", "0123456789", "x"}, "0\n[9 bytes omitted]\n9x"},
		{"only an end is wanted", 0, 2, []string{"abc"}, "\n[1 bytes omitted]\nbc"},
		{"only a beginning is wanted", 2, 0, []string{"abc", "d"}, "ab\n[2 bytes omitted]\n"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			c := NewCapture(tt.head, tt.tail)
			for _, w := range tt.writes {
				if n, err := c.Write([]byte(w)); n != len(w) || err != nil {
					t.Errorf("write of %q returned %d, %v", w, n, err)
				}
			}
			if got := c.String(); got != tt.want {
				t.Errorf("kept %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzCapture(f *testing.F) {
	f.Add(3, 4, []byte("hello world"), 2)
	f.Add(0, 0, []byte("x"), 1)
	f.Add(100, 1, []byte("short"), 5)
	f.Fuzz(func(t *testing.T, head, tail int, data []byte, chunk int) {
		head, tail, chunk = abs(head)%1000, abs(tail)%1000, abs(chunk)%100+1
		c := NewCapture(head, tail)
		for rest := data; len(rest) > 0; rest = rest[min(chunk, len(rest)):] {
			_, _ = c.Write(rest[:min(chunk, len(rest))])
		}
		wantHead := data[:min(head, len(data))]
		wantTail := data[max(len(wantHead), len(data)-tail):]
		if !bytes.Equal(c.Head(), wantHead) || !bytes.Equal(c.Tail(), wantTail) {
			t.Errorf("kept %q and %q, want %q and %q", c.Head(), c.Tail(), wantHead, wantTail)
		}
		if cap(c.tail) > 8*(tail+1) {
			t.Errorf("a tail of %d takes %d bytes", tail, cap(c.tail))
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }
