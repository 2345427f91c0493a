package input

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Reasons why a resource is refused. They are words of status conditions.
const (
	ReasonVariableClash    = "VariableClash"    // two keys become one variable
	ReasonEmptyKey         = "EmptyKey"         // a key has no name
	ReasonReservedVariable = "ReservedVariable" // a key would change how Ansible works
	ReasonTooDeep          = "TooDeep"          // lists and mappings nest deeper than Ansible can read
	ReasonInvalidSpec      = "InvalidSpec"      // the spec is no mapping
)

// Refusal says that a resource cannot be run as it is. Only a change of the resource helps.
type Refusal struct { //nolint:errname // a refusal of a resource, and an error on the way there
	// Reason is one of the reasons of this package.
	Reason string
	// Message says what is wrong, in one line.
	Message string
	// Path is the field that is wrong, like spec.disks[2].size.
	Path string
}

// Error returns "path: message".
func (r *Refusal) Error() string { return r.Path + ": " + r.Message }

func refuse(reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// under puts a key or index before the path of a refusal that comes up from below. The path is made on the way up, so
// that resources without fault pay nothing for it. Of a long path the middle goes.
func (r *Refusal) under(segment string) *Refusal {
	const longest, end = 160, 60
	if len(r.Path) > longest {
		begin, rest := r.Path[:end], r.Path[len(r.Path)-end:]
		r.Path = strings.ToValidUTF8(begin, "") + "..." + strings.ToValidUTF8(rest, "")
	}
	switch {
	case r.Path == "" || strings.HasPrefix(r.Path, "["):
		r.Path = segment + r.Path
	default:
		r.Path = segment + "." + r.Path
	}
	return r
}

// plainKey is a key that needs no quotes.
var plainKey = regexp.MustCompile(`^[-_0-9A-Za-z]+$`)

// shown returns a key as messages and paths show it.
func shown(key string) string {
	const longest = 64
	if utf8.RuneCountInString(key) > longest {
		key = string([]rune(key)[:longest]) + "..."
	}
	if plainKey.MatchString(key) {
		return key
	}
	return strconv.Quote(key)
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }
