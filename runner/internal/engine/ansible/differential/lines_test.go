package differential

import (
	"strings"
	"testing"
)

// diffLines shows which lines are in one text only, with the three lines before each such place.
func diffLines(a, b []string) string {
	begin := 0
	for begin < len(a) && begin < len(b) && a[begin] == b[begin] {
		begin++
	}
	before := a[max(0, begin-3):begin]
	a, b = a[begin:], b[begin:]
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var out []string
	for _, line := range before {
		out = append(out, "  "+line)
	}
	const most = 4000 // lines, beyond which the middle is shown as it is
	if len(a) > most || len(b) > most {
		return strings.Join(append(out, "- "+a[0], "+ "+b[0], "  ... (much)"), "\n")
	}
	return strings.Join(append(out, walk(a, b, common(a, b))...), "\n")
}

// common returns the lengths of the longest common subsequences of all ends of a and b.
func common(a, b []string) [][]int32 {
	length := make([][]int32, len(a)+1)
	for i := range length {
		length[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	return length
}

func walk(a, b []string, length [][]int32) (out []string) {
	i, j, same := 0, 0, []string{}
	say := func(mark, line string) {
		if len(same) > 3 {
			out = append(out, "  ...")
			same = same[len(same)-3:]
		}
		out = append(out, same...)
		same = nil
		out = append(out, mark+line)
	}
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			same = append(same, "  "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			say("- ", a[i])
			i++
		default:
			say("+ ", b[j])
			j++
		}
	}
	return out
}

func TestDiffLines(t *testing.T) {
	tests := []struct{ a, b, want string }{
		{"1 2 3", "1 3", "  1|- 2"},
		{"1 2 3", "1 4 3", "  1|- 2|+ 4"},
		{"1 2 3 4 5 6 7 8", "0 2 3 4 5 6 7 9", "- 1|+ 0|  ...|  5|  6|  7|- 8|+ 9"},
		{"", "1", "- |+ 1"},
	}
	for _, tt := range tests {
		got := strings.ReplaceAll(diffLines(strings.Split(tt.a, " "), strings.Split(tt.b, " ")), "\n", "|")
		if got != tt.want {
			t.Errorf("difference of %q and %q is %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}
