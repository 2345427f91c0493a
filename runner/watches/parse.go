package watches

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// parseDocuments reads all YAML documents of a text.
func parseDocuments(text string) (documents []*yaml.Node, err error) {
	defer func() {
		// The YAML reader panics where it finds itself in a state that it holds to be impossible.
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	reader := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		switch err := reader.Decode(&document); {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, err
		}
		documents = append(documents, &document)
	}
}

// yamlError is how the YAML reader words an error.
var yamlError = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// syntaxProblem turns an error of the YAML reader into a problem at the place where the text goes wrong.
func syntaxProblem(s source, err error) Problem {
	message, line := err.Error(), 1
	if m := yamlError.FindStringSubmatch(message); m != nil {
		message = m[2]
		if m[1] != "" {
			line, _ = strconv.Atoi(m[1])
		}
	}
	if countsFromZero(message) {
		line = firstFailure(s.expanded, line+1, err, message)
	}
	column := 1
	if name, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		name = strings.TrimSuffix(name, "' referenced")
		line, column = s.expanded.place(max(strings.Index(s.expansion.text, "*"+name), 0))
		message = fmt.Sprintf("there is no anchor %q above for this alias", name)
	}
	if tab := tabNear(s.expanded, line); tab > 0 {
		return Problem{Position: s.position(tab, 1), Message: "the line is indented with a tab", Hint: "YAML is indented with spaces"}
	}
	return Problem{Position: s.position(line, column), Message: "YAML: " + message, Hint: syntaxHint(message)}
}

// countsFromZero tells the errors whose line the YAML reader counts from zero. The line is that of the enclosing
// list or mapping, where that does not begin on the first line.
func countsFromZero(message string) bool {
	for _, inner := range []string{
		"did not find expected key", "did not find expected node content", "did not find expected '-' indicator",
		"did not find expected ','", "did not find expected <",
		"found undefined tag handle", "found duplicate %", "found incompatible YAML",
	} {
		if strings.HasPrefix(message, inner) {
			return true
		}
	}
	return false
}

// firstFailure finds the line that brings about an error: the first one that the text can be cut off after and
// still gives the same message. It starts from the line of the enclosing list or mapping and gives up, returning
// that, after having read some megabytes.
func firstFailure(t *lineTable, from int, want error, message string) int {
	budget := 4 * maxFile
	for line := from; line < len(t.starts) && budget > 0; line++ {
		end := t.starts[line]
		budget -= end
		_, err := parseDocuments(t.text[:end])
		if err != nil && (err.Error() == want.Error() || strings.HasSuffix(err.Error(), message)) {
			return line
		}
	}
	return min(from, len(t.starts))
}

// tabNear returns the line at or beside line that is indented with a tab, or 0.
func tabNear(t *lineTable, line int) int {
	for _, candidate := range []int{line, line + 1, line - 1} {
		if candidate < 1 || candidate > len(t.starts) {
			continue
		}
		text := t.text[t.starts[candidate-1]:]
		if strings.HasPrefix(strings.TrimLeft(text, " "), "\t") {
			return candidate
		}
	}
	return 0
}

// syntaxHint says in plain words what most often is behind an error of the YAML reader.
func syntaxHint(message string) string {
	switch {
	case strings.HasPrefix(message, "mapping values are not allowed"):
		return "check the indentation, and put a value that holds a colon in quotes"
	case strings.HasPrefix(message, "did not find expected"):
		return "check the indentation of this line and the one above, and that brackets and quotes are closed"
	case strings.HasPrefix(message, "could not find expected ':'"):
		return "a key needs a colon and a space after it"
	case strings.HasPrefix(message, "found character that cannot start any token"):
		return "put a value that begins with @, ` or % in quotes"
	case strings.HasPrefix(message, "found unexpected end of stream"):
		return "a quote or bracket that opens here is not closed"
	}
	return ""
}
