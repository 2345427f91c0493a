package ansible

import (
	"errors"
	"strings"
)

// CheckArgs returns what is wrong with the text of --ansible-args; nil if it can be split into arguments.
func CheckArgs(text string) error {
	_, err := splitArgs(text)
	return err
}

// splitArgs splits the text of --ansible-args into words as the old operator did: one pair of enclosing single
// quotes goes, the rest follows the rules of a POSIX shell without expansions.
func splitArgs(text string) ([]string, error) {
	text = strings.TrimSpace(text)
	if len(text) >= 2 && text[0] == '\'' && text[len(text)-1] == '\'' {
		text = text[1 : len(text)-1]
	}
	l := lexer{rest: text}
	for l.rest != "" {
		if err := l.step(); err != nil {
			return nil, err
		}
	}
	l.endWord()
	return l.words, nil
}

// lexer splits text into words, one piece of a word at a time.
type lexer struct {
	rest   string
	word   strings.Builder
	inWord bool // also true for the empty word ''
	words  []string
}

func (l *lexer) step() error {
	c := l.rest[0]
	l.rest = l.rest[1:]
	switch c {
	case ' ', '\t', '\r', '\n':
		l.endWord()
		return nil
	case '\'':
		return l.quoted()
	case '"':
		return l.doubleQuoted()
	case '\\':
		return l.escaped()
	}
	l.add(c)
	return nil
}

func (l *lexer) add(c byte) {
	l.inWord = true
	l.word.WriteByte(c)
}

func (l *lexer) endWord() {
	if l.inWord {
		l.words = append(l.words, l.word.String())
	}
	l.inWord = false
	l.word.Reset()
}

func (l *lexer) escaped() error {
	if l.rest == "" {
		return errors.New("a backslash at the end escapes nothing")
	}
	l.add(l.rest[0])
	l.rest = l.rest[1:]
	return nil
}

func (l *lexer) quoted() error {
	text, rest, found := strings.Cut(l.rest, "'")
	if !found {
		return errors.New("a single quote is not closed")
	}
	l.inWord = true
	l.word.WriteString(text)
	l.rest = rest
	return nil
}

// doubleQuoted takes a part in double quotes, where a backslash escapes only itself and the quote.
func (l *lexer) doubleQuoted() error {
	l.inWord = true
	for i := 0; i < len(l.rest); i++ {
		switch c := l.rest[i]; {
		case c == '"':
			l.rest = l.rest[i+1:]
			return nil
		case c == '\\' && i+1 < len(l.rest) && (l.rest[i+1] == '"' || l.rest[i+1] == '\\'):
			i++
			l.word.WriteByte(l.rest[i])
		default:
			l.word.WriteByte(c)
		}
	}
	return errors.New("a double quote is not closed")
}
