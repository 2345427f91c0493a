package ansible

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// reservedStat is the key of set_stats by which a play tells the operator how to take its end.
const reservedStat = "chartbook"

// verdict is what a play says about itself through the reserved stat.
type verdict struct {
	outcome    string // waiting, permanent; empty for none
	reason     string
	message    string
	retryAfter time.Duration
}

const (
	verdictWaiting   = "waiting"
	verdictPermanent = "permanent"
)

// reasonForm is what the API server accepts as the reason of a condition.
var reasonForm = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// parseOutputs takes the reserved stat out of what set_stats has collected. Outputs are nil if nothing is left.
func parseOutputs(text json.RawMessage) (outputs map[string]any, said verdict, err error) {
	if len(text) == 0 {
		return nil, verdict{}, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&outputs); err != nil {
		return nil, verdict{}, fmt.Errorf("read the data of set_stats: %w", err)
	}
	for key, value := range outputs {
		outputs[key] = withNumbers(value)
	}
	reserved, present := outputs[reservedStat]
	delete(outputs, reservedStat)
	if len(outputs) == 0 {
		outputs = nil
	}
	if present {
		said, err = parseVerdict(reserved)
	}
	return outputs, said, err
}

// withNumbers replaces json.Number by int64 where it is one, by float64 elsewhere.
func withNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = withNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = withNumbers(v[key])
		}
	}
	return value
}

func parseVerdict(value any) (verdict, error) {
	fields, ok := value.(map[string]any)
	if !ok {
		return verdict{}, fmt.Errorf("stat %s must be a mapping with outcome, reason, message and requeueAfter", reservedStat)
	}
	var v verdict
	var problems []error
	for key, field := range fields {
		if err := v.set(key, field); err != nil {
			problems = append(problems, err)
		}
	}
	if v.outcome != verdictWaiting && v.outcome != verdictPermanent {
		problems = append(problems, fmt.Errorf("stat %s: outcome must be %s or %s", reservedStat, verdictWaiting, verdictPermanent))
	}
	if len(problems) > 0 {
		return verdict{}, errors.New(oneLine(errors.Join(problems...).Error()))
	}
	return v, nil
}

func (v *verdict) set(key string, value any) error {
	text, isText := value.(string)
	switch key {
	case "outcome":
		v.outcome = text
		return nil // checked when all is known
	case "reason":
		if v.reason = text; !reasonForm.MatchString(text) {
			return fmt.Errorf("stat %s: reason must be one word like WaitingForDatabase", reservedStat)
		}
	case "message":
		if v.message = shorten(oneLine(text), maxFailureText); !isText {
			return fmt.Errorf("stat %s: message must be text", reservedStat)
		}
	case "requeueAfter":
		var err error
		v.retryAfter, err = duration(value)
		return err
	default:
		return fmt.Errorf("stat %s: unknown key %q, known are outcome, reason, message and requeueAfter", reservedStat, key)
	}
	return nil
}

// duration reads a time like 1m30s, or a number of seconds.
func duration(value any) (time.Duration, error) {
	switch v := value.(type) {
	case int64:
		if v >= 0 && v <= int64(maxPeriod/time.Second) {
			return time.Duration(v) * time.Second, nil
		}
	case string:
		return period(v)
	}
	return 0, fmt.Errorf("stat %s: requeueAfter must be a time like 30s or 1m30s", reservedStat)
}

// maxPeriod is the longest time that a play can ask for.
const maxPeriod = 10 * 365 * 24 * time.Hour

// period reads the time after which a play wants to run again.
func period(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxPeriod {
		return 0, fmt.Errorf("%q is no time to run again after; write it like 30s or 1m30s", text)
	}
	return d, nil
}
