package watches

import "strings"

// maxTypos is how many letters a key may differ from the one that is suggested for it.
const maxTypos = 2

// nearest returns the name that was most likely meant by a word, or "".
func nearest(word string, names []string) string {
	const longest = 64 // no key is longer, and the comparison takes the square of the length
	if len(word) > longest {
		return ""
	}
	best, fewest := "", maxTypos+1
	for _, name := range names {
		typos := distance(strings.ToLower(word), strings.ToLower(name))
		if typos < fewest && 2*typos < len(name) {
			best, fewest = name, typos
		}
	}
	return best
}

// distance counts the letters to add, drop, change or swap with their neighbour to make b from a.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
