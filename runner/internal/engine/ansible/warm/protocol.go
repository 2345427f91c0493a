package warm

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// protocolVersion is what both sides of the control socket speak.
const protocolVersion = 1

// message is what a zygote says, one of these.
type message struct {
	Ready   *ready   `json:"ready"`
	Failed  *failed  `json:"failed"`
	Started *started `json:"started"`
	Refused *refused `json:"refused"`
	Ended   *ended   `json:"ended"`
}

// ready is what a zygote says of itself once it can fork runs.
type ready struct {
	Protocol  int        `json:"protocol"`
	Ansible   string     `json:"ansible"`
	Python    string     `json:"python"`
	Hooks     string     `json:"hooks"` // why modules are not forked; empty if they are
	Consulted []string   `json:"consulted"`
	Files     []identity `json:"files"`
	Notes     []string   `json:"notes"`
}

type failed struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type started struct {
	ID  string `json:"id"`
	PID int    `json:"pid"`
}

type refused struct {
	ID      string `json:"id"`
	Message string `json:"message"`
}

type ended struct {
	ID       string `json:"id"`
	Code     int    `json:"code"`
	Signal   int    `json:"signal"`
	CPU      int64  `json:"cpu_us"`
	MaxRSSkB int64  `json:"max_rss_kb"`
}

// order is what a zygote is told, one of these.
type order struct {
	Run  *orderRun  `json:"run,omitempty"`
	Reap *orderReap `json:"reap,omitempty"`
	Stop *struct{}  `json:"stop,omitempty"`
}

type orderRun struct {
	ID   string `json:"id"`
	Mark string `json:"mark"`
}

type orderReap struct {
	ID string `json:"id"`
}

// task is what a run process is told.
type task struct {
	Argv []text          `json:"argv"` // the program's name first
	Env  map[string]text `json:"env"`
	Dir  text            `json:"cwd"`
	// Descriptors are the numbers that the extra descriptors get.
	Descriptors []int `json:"fds"`
	// Files are contents by path, which is UTF-8.
	Files map[string]text `json:"files,omitempty"`
}

// firstExtra is the number of the first of the extra descriptors of a run, after the standard ones and that of the events.
const firstExtra = 4

// last is what a run process says at its end.
type last struct {
	// Declined says that it is no run for this zygote. Nothing of it has been done.
	Declined *struct {
		Message string `json:"message"`
	} `json:"declined"`
	Final *struct {
		Code    int            `json:"code"`
		Modules map[string]int `json:"modules"`
	} `json:"final"`
}

// text may hold bytes that are no UTF-8. Each travels as Python has it: as a lone surrogate.
type text string

// MarshalJSON implements [json.Marshaler].
func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	line := []byte{'"'}
	for rest := string(t); rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && size == 1 {
			line = fmt.Appendf(line, `\udc%02x`, rest[0])
		} else {
			quoted, err := json.Marshal(rest[:size])
			if err != nil {
				return nil, fmt.Errorf("encode %s: %w", strconv.Quote(rest), err)
			}
			line = append(line, quoted[1:len(quoted)-1]...)
		}
		rest = rest[size:]
	}
	return append(line, '"'), nil
}

// texts are strings that may hold anything.
func texts(strings []string) []text {
	all := make([]text, len(strings))
	for i, s := range strings {
		all[i] = text(s)
	}
	return all
}

func textMap(values map[string]string) map[string]text {
	all := make(map[string]text, len(values))
	for name, value := range values {
		all[name] = text(value)
	}
	return all
}
