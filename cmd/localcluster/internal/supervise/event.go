package supervise

import (
	"encoding/json"
	"io"
)

// Event is one line of the report that the starting command reads from the supervisor.
type Event struct {
	Step   string   `json:"step,omitempty"`
	Ready  bool     `json:"ready,omitempty"`
	Server string   `json:"server,omitempty"`
	Error  string   `json:"error,omitempty"`
	Log    string   `json:"log,omitempty"`
	Tail   []string `json:"tail,omitempty"`
}

// Reporter writes events for ReadEvents. Nobody may be listening any more, and that is no reason to stop.
func Reporter(w io.Writer) func(Event) {
	encoder := json.NewEncoder(w)
	return func(e Event) { _ = encoder.Encode(e) }
}

// ReadEvents calls visit for each event until the supervisor reports an end of its start, one way or the other. It
// returns false if the supervisor went away without a word.
func ReadEvents(r io.Reader, visit func(Event)) bool {
	decoder := json.NewDecoder(r)
	for {
		var e Event
		if err := decoder.Decode(&e); err != nil {
			return false
		}
		visit(e)
		if e.Ready || e.Error != "" {
			return true
		}
	}
}
