package helm

import "strings"

// keepText returns a text in which what templates make up is as it was: fresh and again are two renderings, before is
// how it was rendered last. Where they differ from each other something was made up; where it is in the text is told from
// what stands around it. It reports false when that is nowhere in before.
func keepText(fresh, again, before string) (string, bool) {
	if text, ok := keepLines(strings.Split(fresh, "\n"), strings.Split(again, "\n"), strings.Split(before, "\n")); ok {
		return text, true
	}
	f := frameOf(fresh, again)
	return before, f.holdsBlob(fresh) && f.holdsBlob(again) && f.holdsBlob(before)
}

// keepLines is keepText line by line, so that changes of other lines are taken over.
func keepLines(fresh, again, before []string) (string, bool) {
	if len(fresh) != len(again) {
		return "", false
	}
	out := make([]string, len(fresh))
	for i, line := range fresh {
		out[i] = line
		if line == again[i] {
			continue
		}
		frame := frameOf(line, again[i])
		if len(before) == len(fresh) && hasFrame(before[i], frame) {
			out[i] = before[i]
			continue
		}
		at := onlyWith(before, frame)
		if at < 0 {
			return "", false
		}
		out[i] = before[at]
	}
	return strings.Join(out, "\n"), true
}

// frame is what stands around something that is made up.
type frame struct{ before, after string }

// frameOf returns what two renderings have in common at both ends. A word that begins or ends alike may be made up all the
// same, so that the frame ends where a word does.
func frameOf(a, b string) frame {
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	for start > 0 && isWord(rune(a[start-1])) {
		start--
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for end > 0 && isWord(rune(a[len(a)-end])) {
		end--
	}
	return frame{before: a[:start], after: a[len(a)-end:]}
}

// holdsBlob reports whether a text is one blob in a frame, like the body of a certificate, which may have several lines.
func (f frame) holdsBlob(text string) bool {
	if !hasFrame(text, f) {
		return false
	}
	body := text[len(f.before) : len(text)-len(f.after)]
	return strings.IndexFunc(body, func(r rune) bool { return r != '\n' && !isWord(r) }) < 0
}

func isWord(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.ContainsRune("+/=_-$.", c)
}

func hasFrame(text string, f frame) bool {
	return len(text) >= len(f.before)+len(f.after) && strings.HasPrefix(text, f.before) && strings.HasSuffix(text, f.after)
}

// onlyWith returns the line that has a frame; -1 where none has, or several, or the frame says nothing.
func onlyWith(lines []string, f frame) int {
	found := -1
	for i, line := range lines {
		if strings.TrimSpace(f.before) == "" || !hasFrame(line, f) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}
