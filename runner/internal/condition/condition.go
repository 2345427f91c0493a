// Package condition decides by CEL expressions over two states of a resource whether a change counts.
//
// An expression sees the resource as it is now (self) and as it was (oldSelf) with the keys that the API has, and has CEL's
// standard functions and optional values (self.?spec.?size.orValue(1)).
package condition

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
)

const (
	// MaxLength bounds an expression in bytes.
	MaxLength = 4096
	// costLimit bounds what one evaluation may cost, in CEL's units: about one per step, and one per ten bytes that a
	// function looks at. The limit was met after 0.2 s on a busy machine; events of the kind wait for it.
	costLimit = 100_000
	// maxNesting bounds how deep an expression may nest.
	maxNesting = 50
)

// Condition is a compiled expression. It is safe for concurrent use.
type Condition struct {
	program cel.Program
	text    string
}

// environment is what expressions are compiled in. To make it takes some milliseconds, so it is made when it is needed.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("self", cel.DynType),
		cel.Variable("oldSelf", cel.DynType),
		cel.OptionalTypes(),
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		cel.ParserRecursionLimit(maxNesting),
		cel.ParserExpressionSizeLimit(MaxLength),
	)
})

// Error is what is wrong with an expression.
type Error struct {
	Line    int // in the expression, from 1; zero if the error has no place
	Column  int // in characters, from 1
	Message string
}

// Error returns what is wrong, without the place.
func (e *Error) Error() string { return e.Message }

// Compile reads an expression. The error is an [*Error], about the first thing that is wrong.
func Compile(text string) (*Condition, error) {
	if len(text) > MaxLength {
		return nil, &Error{Message: fmt.Sprintf("the expression has more than %d bytes", MaxLength)}
	}
	env, err := environment()
	if err != nil {
		return nil, &Error{Message: "prepare CEL: " + err.Error()}
	}
	ast, issues := env.Compile(text)
	if found := issues.Errors(); len(found) > 0 {
		first := found[0]
		return nil, &Error{Line: first.Location.Line(), Column: max(first.Location.Column()+1, 1), Message: brief(first.Message)}
	}
	if kind := ast.OutputType(); !kind.IsExactType(cel.BoolType) && !kind.IsExactType(cel.DynType) {
		return nil, &Error{Message: fmt.Sprintf("the expression gives a %s; it must be true or false", kind)}
	}
	program, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(costLimit))
	if err != nil {
		return nil, &Error{Message: plain(err.Error())}
	}
	return &Condition{program: program, text: text}, nil
}

var (
	errNotBool = errors.New("the result is neither true nor false")
	errCost    = errors.New("the expression takes too long for this resource")
)

// Holds evaluates the expression. Its errors hold nothing of the resource but what stands in the expression, too: the
// resource may be a Secret.
func (c *Condition) Holds(self, oldSelf map[string]any) (bool, error) {
	result, _, err := c.program.Eval(map[string]any{"self": self, "oldSelf": oldSelf})
	switch {
	case err != nil && strings.Contains(err.Error(), "cost limit"):
		return false, errCost
	case err != nil:
		return false, errors.New(c.known(plain(err.Error())))
	}
	if holds, isBool := result.Value().(bool); isBool {
		return holds, nil
	}
	return false, errNotBool
}

// known keeps the beginning of a message, which is CEL's own, and of what follows only what the expression itself says.
func (c *Condition) known(message string) string {
	kind, about, found := strings.Cut(message, ": ")
	if about = strings.TrimSpace(about); found && about != "" && strings.Contains(c.text, about) {
		return kind + ": " + about
	}
	kind, _, _ = strings.Cut(kind, " '") // the rest quotes a value
	kind, _, _ = strings.Cut(kind, ` "`)
	return kind
}

// brief leaves out of a compiler's message what means nothing to the author of an expression.
func brief(message string) string {
	message, _, _ = strings.Cut(message, " expecting ")
	return plain(strings.ReplaceAll(message, " (in container '')", ""))
}

// plain makes one line of a message.
func plain(message string) string {
	return strings.Join(strings.Fields(message), " ")
}
