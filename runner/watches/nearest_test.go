package watches

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"playbook", "role", "chart", "vars", "manageStatus", "markUnsafe"}
	cases := []struct{ reason, word, want string }{
		{"a letter is missing", "playbok", "playbook"},
		{"a letter is too much", "rolle", "role"},
		{"two letters are swapped", "manageSttaus", "manageStatus"},
		{"case does not count", "MARKUNSAVE", "markUnsafe"},
		{"a plural", "charts", "chart"},
		{"something else altogether", "bogus", ""},
		{"a short word is near too many", "x", ""},
		{"half a short name is not enough", "cars", "vars"},
		{"an endless word is not compared", string(make([]byte, 1000)), ""},
	}
	for _, c := range cases {
		if got := nearest(c.word, names); got != c.want {
			t.Errorf("%s: nearest(%q) is %q, want %q", c.reason, c.word, got, c.want)
		}
	}
}
