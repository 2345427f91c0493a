package watches

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// words are the scalars that mean something else than their text. YAML 1.1 has more of them than YAML 1.2.
var words = map[string]any{
	"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil,
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true,
	"true": true, "True": true, "TRUE": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false,
	"false": false, "False": false, "FALSE": false, "off": false, "Off": false, "OFF": false,
	".nan": math.NaN(), ".NaN": math.NaN(), ".NAN": math.NaN(),
	".inf": math.Inf(1), ".Inf": math.Inf(1), ".INF": math.Inf(1),
	"+.inf": math.Inf(1), "+.Inf": math.Inf(1), "+.INF": math.Inf(1),
	"-.inf": math.Inf(-1), "-.Inf": math.Inf(-1), "-.INF": math.Inf(-1),
}

var (
	errNotFinite = errors.New("JSON has no such number")
	plainInteger = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	plainFloat   = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

// scalar returns the value of a scalar as YAML 1.1 has it, which both old tools read: nil, bool, int64, float64 or
// string. An integer that an int64 cannot hold becomes a json.Number, so that no digit is lost.
func scalar(n *yaml.Node) (any, error) {
	if n.Style&yaml.TaggedStyle != 0 {
		return tagged(n)
	}
	if quoted(n) {
		return n.Value, nil
	}
	return finite(plain(n.Value))
}

// quoted reports whether a scalar is written in a way that makes it text whatever it says.
func quoted(n *yaml.Node) bool {
	return n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

// tagged returns the value of a scalar that names its type.
func tagged(n *yaml.Node) (any, error) {
	var fits bool
	value := plain(n.Value)
	switch n.Tag {
	case "!!null":
		fits = value == nil
	case "!!bool":
		_, fits = value.(bool)
	case "!!int":
		switch value.(type) {
		case int64, json.Number:
			fits = true
		}
	case "!!float":
		if i, ok := value.(int64); ok {
			value = float64(i)
		}
		_, fits = value.(float64)
	case "!!binary":
		decoded, err := base64.StdEncoding.DecodeString(n.Value)
		return string(decoded), err
	default:
		return n.Value, nil
	}
	if !fits {
		return nil, fmt.Errorf("%q is no %s", n.Value, strings.TrimPrefix(n.Tag, "!!"))
	}
	return finite(value)
}

// finite refuses the floats that JSON cannot express.
func finite(value any) (any, error) {
	if f, ok := value.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil, errNotFinite
	}
	return value, nil
}

// plain returns the value of an unquoted scalar.
func plain(text string) any {
	if value, ok := words[text]; ok {
		return value
	}
	if strings.HasPrefix(text, ".") {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	}
	if !strings.ContainsRune("+-0123456789", rune(text[0])) {
		return text
	}
	digits := strings.ReplaceAll(text, "_", "")
	if i, err := strconv.ParseInt(digits, 0, 64); err == nil {
		return i
	}
	if i, ok := largeInteger(digits); ok {
		return i
	}
	if plainFloat.MatchString(digits) {
		if f, err := strconv.ParseFloat(digits, 64); err == nil {
			return f
		}
	}
	return text
}

// largeInteger reads an integer that is too large for an int64: a decimal one in the range of a float64, which leaves
// longer rows of digits to be text as ever, and others up to 64 bits.
func largeInteger(digits string) (json.Number, bool) {
	if plainInteger.MatchString(digits) {
		if _, err := strconv.ParseFloat(digits, 64); err != nil {
			return "", false
		}
		i, ok := new(big.Int).SetString(digits, 10)
		return json.Number(i.String()), ok
	}
	u, err := strconv.ParseUint(digits, 0, 64)
	return json.Number(strconv.FormatUint(u, 10)), err == nil
}

// text returns how a scalar's value is written where text is asked for.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}
