package input

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestSnake checks the names against testdata/snake.golden. Each line of it has a key and what the Ansible tool's own
// function made of it, so that there is no -update: the file is the fact.
// Covers UP H2.
func TestSnake(t *testing.T) {
	file, err := os.Open("testdata/snake.golden")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := 0
	for scanner := bufio.NewScanner(file); scanner.Scan(); lines++ {
		in, out, _ := strings.Cut(scanner.Text(), "\t")
		key, errIn := strconv.Unquote(in)
		want, errOut := strconv.Unquote(out)
		if errIn != nil || errOut != nil {
			t.Fatalf("line %d: %v %v", lines+1, errIn, errOut)
		}
		if got := Snake(key); got != want {
			t.Errorf("Snake(%q) is %q, want %q", key, got, want)
		}
	}
	if lines < 250 {
		t.Errorf("the table has %d lines only", lines)
	}
}

func TestSnakeOfNothing(t *testing.T) {
	for _, key := range []string{"", " ", "   "} {
		if got := Snake(key); got != "" {
			t.Errorf("Snake(%q) is %q, want nothing", key, got)
		}
	}
}

func FuzzSnake(f *testing.F) {
	for _, seed := range []string{"", "fooBar", "HTTPServer", "URLs", "a1b2c3", "éA", "aÉb", "_ -", "\xff", "IPsHTTPURL"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		got := Snake(key)
		if (got == "") != (strings.Trim(key, " ") == "") {
			t.Errorf("Snake(%q) is %q", key, got)
		}
		if strings.ContainsAny(got, "- ") || strings.ContainsFunc(got, func(r rune) bool { return r >= 'A' && r <= 'Z' }) {
			t.Errorf("Snake(%q) is %q, which is not in snake_case", key, got)
		}
		if again := Snake(key); again != got {
			t.Errorf("Snake(%q) is %q and then %q", key, got, again)
		}
	})
}
