// Package fieldpath names places inside a resource, and tells which of them changed.
//
// A path is written like spec.ports[0].port. A key that is no plain word stands in brackets and quotes:
// metadata.labels["app.kubernetes.io/name"]. [*] stands for all items of a list, or all values of a mapping.
package fieldpath

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// MaxLength bounds a path in bytes.
const MaxLength = 256

// Path is a place inside a resource, from its root. It has at least one step, and the first is a key.
type Path []Step

// Step leads from a value to one inside it.
type Step struct {
	Key   string // of a mapping
	Index int    // in a list, where Kind is Index
	Kind  Kind
}

// Kind is what a step does.
type Kind int

// The kinds of steps.
const (
	Key   Kind = iota // to the value of a key
	Index             // to an item of a list
	All               // to all items of a list, or values of a mapping
)

var (
	errEmpty   = errors.New("the path is empty")
	errDot     = errors.New("a path begins with a key, without a dot before it")
	errLast    = errors.New("a key is missing after the last dot")
	errBracket = errors.New("a bracket is not closed")
	errQuote   = errors.New(`what is in brackets is an index, * or a key in quotes, like ["example.com/size"]`)
	errRoot    = errors.New("a path begins with a key")
	errLong    = fmt.Errorf("a path has at most %d bytes", MaxLength)

	word = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*`)
)

// Parse reads a path. Its errors say what is wrong without repeating the text.
func Parse(text string) (Path, error) {
	switch {
	case text == "":
		return nil, errEmpty
	case len(text) > MaxLength:
		return nil, errLong
	case text[0] == '.':
		return nil, errDot
	case text[0] == '[':
		return nil, errRoot
	}
	var path Path
	for rest := "." + text; rest != ""; {
		step, length, err := next(rest)
		if err != nil {
			return nil, err
		}
		path, rest = append(path, step), rest[length:]
	}
	return path, nil
}

// next reads the step at the beginning of text, which is a dot or a bracket and what follows.
func next(text string) (step Step, length int, err error) {
	switch {
	case text[0] == '[':
		return bracket(text)
	case text[0] != '.':
		return Step{}, 0, fmt.Errorf("a dot or bracket is missing before %q", clip(text))
	case text == ".":
		return Step{}, 0, errLast
	}
	key := word.FindString(text[1:])
	if key == "" {
		return Step{}, 0, fmt.Errorf(`%q is no plain key; write it in brackets and quotes, like ["example.com/size"]`, clip(text[1:]))
	}
	return Step{Key: key}, 1 + len(key), nil
}

// bracket reads [0], [*], ["key"] or ['key'].
func bracket(text string) (step Step, length int, err error) {
	if len(text) > 1 && (text[1] == '"' || text[1] == '\'') {
		return quoted(text)
	}
	inside, _, closed := strings.Cut(text[1:], "]")
	if !closed {
		return Step{}, 0, errBracket
	}
	length = len(inside) + 2
	if inside == "*" {
		return Step{Kind: All}, length, nil
	}
	index, err := strconv.ParseUint(inside, 10, 31)
	if err != nil {
		return Step{}, 0, errQuote
	}
	return Step{Kind: Index, Index: int(index)}, length, nil
}

func quoted(text string) (step Step, length int, err error) {
	end := 2
	for end < len(text) && text[end] != text[1] {
		if text[end] == '\\' {
			end++
		}
		end++
	}
	if end+1 >= len(text) || text[end+1] != ']' {
		return Step{}, 0, errBracket
	}
	key := text[2:end]
	if strings.Contains(key, `\`) {
		if key, err = strconv.Unquote(`"` + key + `"`); err != nil {
			return Step{}, 0, errQuote
		}
	}
	return Step{Key: key}, end + 2, nil
}

// clip shortens text for an error.
func clip(text string) string {
	const most = 20
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// String writes the path in the one way in which paths are told.
func (p Path) String() string {
	var out strings.Builder
	for i, step := range p {
		switch {
		case step.Kind == All:
			out.WriteString("[*]")
		case step.Kind == Index:
			fmt.Fprintf(&out, "[%d]", step.Index)
		case word.FindString(step.Key) != step.Key || step.Key == "":
			out.WriteString("[" + strconv.Quote(step.Key) + "]")
		case i > 0:
			out.WriteString("." + step.Key)
		default:
			out.WriteString(step.Key)
		}
	}
	return out.String()
}
