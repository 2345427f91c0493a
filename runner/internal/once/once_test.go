package once

import (
	"strconv"
	"testing"
)

func TestFirst(t *testing.T) {
	var said Texts
	if !said.First("a") || said.First("a") || !said.First("b") {
		t.Error("a text is not said once")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var said Texts
	for i := range 10 * maxKept {
		if !said.First(strconv.Itoa(i)) {
			t.Fatalf("%d was said before", i)
		}
		if len(said.said) > maxKept {
			t.Fatalf("%d texts are kept", len(said.said))
		}
	}
}
