package input

import (
	"regexp"
	"strings"
)

// digitRuns are a letter, digits, a letter and digits, like the a1b2 in data1b2c: the digits in the middle are a word.
var digitRuns = regexp.MustCompile(`([a-zA-Z])([0-9]+)([a-zA-Z][0-9]+)`)

// specialWords stay in one piece although letters of either case follow them.
var specialWords = []string{"HTTP", "URL", "IP"}

// Snake turns the key of a spec into the name of a variable, exactly as the Ansible tool did, whose playbooks rely on
// each of its oddities; testdata/snake.golden is the record. A key of spaces only gives "".
func Snake(key string) string {
	key = strings.Trim(digitRuns.ReplaceAllString(key, "$1 $2 $3"), " ")
	if key == "" {
		return ""
	}
	capital := isUpper(key[0])
	for _, word := range specialWords {
		key = isolate(key, word)
	}
	words := splitWords(key)
	name := strings.Join(words, "_")
	if capital && words[0] != "http" && words[0] != "url" && words[0] != "ip" {
		return "_" + name
	}
	return name
}

// isolate puts underscores around the first place of a special word in key. An s that follows makes a plural and belongs
// to the word. At the beginning no underscore is put before, unless nothing but the singular is there.
func isolate(key, word string) string {
	before, after, found := strings.Cut(key, word)
	if !found {
		return key
	}
	if after == "" {
		return before + "_" + word
	}
	rest, plural := strings.CutPrefix(after, "s")
	if plural {
		word += "S"
	}
	switch {
	case plural && rest == "":
		return before + "_" + word
	case before == "":
		return word + "_" + rest
	}
	return before + "_" + word + "_" + rest
}

// splitWords parts key at separators and where the case changes, and puts the words in lower case. An acronym is one
// word, whose last capital begins the next one: JSONData is json and data.
func splitWords(key string) []string {
	var words []string
	start := 0 // of the word at hand
	flush := func(end, next int) {
		words = append(words, strings.ToLower(key[start:end]))
		start = next
	}
	for i := range len(key) {
		switch {
		case key[i] == ' ' || key[i] == '_' || key[i] == '-':
			flush(i, i+1)
		case i == start || i+1 == len(key): // no word ends after its first letter, and the last one ends below
		case isUpper(key[i]) && isLower(key[i+1]):
			flush(i, i)
		case isLower(key[i]) && isUpper(key[i+1]):
			flush(i+1, i+1)
		}
	}
	return append(words, strings.ToLower(key[start:]))
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
