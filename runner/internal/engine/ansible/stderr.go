package ansible

import (
	"regexp"
	"strconv"
	"strings"
)

// complaint is what ansible-playbook says on standard error when it gives up, apart from failed tasks.
type complaint struct {
	text string // one line; empty if it said nothing
	file string
	line int
	// options says that the command line is wrong.
	options bool
}

var (
	// ansible-core up to 2.18 writes the first, 2.19 and later the second.
	errorStart = regexp.MustCompile(`(?m)^(?:ERROR! |\[ERROR\]: )`)
	// Where it is: the first form up to 2.18, the second since.
	errorPlace = regexp.MustCompile(`(?:The error appears to be in '(.+)': line (\d+), column \d+|(?m:^Origin: (.+):(\d+):\d+$))`)
	// The parser's words stand behind a general introduction.
	yamlError = regexp.MustCompile(`(?s)Syntax Error while loading YAML\.\s*(.*)`)
	// argparse writes a summary of all options first.
	usageError = regexp.MustCompile(`(?m)^\S*ansible-playbook\S*: error: (.+)$`)
)

// parseStderr finds the last complaint in what ansible-playbook wrote to standard error.
func parseStderr(text string) complaint {
	starts := errorStart.FindAllStringIndex(text, -1)
	if len(starts) == 0 {
		if usage := usageError.FindStringSubmatch(text); usage != nil {
			return complaint{text: shorten(oneLine(usage[1]), maxFailureText), options: true}
		}
		return complaint{text: shorten(lastLine(text), maxFailureText)}
	}
	text = text[starts[len(starts)-1][1]:]
	c := complaint{}
	said := text
	if at := errorPlace.FindStringSubmatchIndex(text); at != nil {
		said = text[:at[0]]
		groups := errorPlace.FindStringSubmatch(text)
		c.file = groups[1] + groups[3]
		c.line, _ = strconv.Atoi(groups[2] + groups[4]) // one of the two is empty
	}
	if yaml := yamlError.FindStringSubmatch(said); yaml != nil {
		said = "YAML syntax: " + yaml[1]
	}
	paragraph, _, _ := strings.Cut(strings.TrimSpace(said), "\n\n")
	c.text = shorten(oneLine(paragraph), maxFailureText)
	return c
}
