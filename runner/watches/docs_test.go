package watches

import (
	"os"
	"strings"
	"testing"
)

// TestDocsListEveryKey keeps the reference complete.
func TestDocsListEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../docs/watches.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range Keys() {
		if !strings.Contains(string(text), "`"+key.Key+"`") {
			t.Errorf("docs/watches.md does not have the key %s", key.Key)
		}
		if key.Doc == "" || key.Type == "" || key.Default == "" || len(key.Content) == 0 {
			t.Errorf("the description of %s is incomplete: %+v", key.Key, key)
		}
	}
}
