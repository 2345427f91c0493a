package warm

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"time"

	"github.com/chartbook-operator/chartbook/runner/internal/process"
)

// maxFinal bounds what a run process says, in bytes.
const maxFinal = 64 << 10

// finalWait is how long the last word of a run process that has ended may take to come. It is there already, unless there is
// none and something that the run left keeps its socket.
const finalWait = time.Second

// talk is what a run process is told and says.
type talk struct {
	conn *net.UnixConn
	done chan struct{} // closed when it says no more
	last last          // valid then
}

// newTalk tells a run process what to do. The connection is the caller's to close, which ends the talk.
func newTalk(conn *net.UnixConn, r Request) *talk {
	t := &talk{conn: conn, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		if json.NewEncoder(conn).Encode(taskOf(r)) == nil { //nolint:errchkjson // its error is looked at
			_ = json.NewDecoder(io.LimitReader(conn, maxFinal)).Decode(&t.last) // without it, it was killed
		}
	}()
	return t
}

func taskOf(r Request) task {
	env := parseEnviron(r.Env)
	env[markName] = r.Mark[len(markName)+1:]
	t := task{
		Argv: texts(append([]string{"ansible-playbook"}, r.Args...)), Env: textMap(env), Dir: text(r.Dir), Descriptors: []int{},
		Files: textMap(r.Files),
	}
	for i := range r.Extra {
		t.Descriptors = append(t.Descriptors, firstExtra+i)
	}
	return t
}

// declined returns why a run process that is gone has not run anything; nil if it has.
func (t *talk) declined() error {
	if t.last.Declined == nil {
		return nil
	}
	return &UnavailableError{Environment, errors.New(t.last.Declined.Message)}
}

// end returns how a run process that is gone says that it ends; code -1 if it has not said so.
func (t *talk) end() (process.Exit, map[string]int) {
	_ = t.conn.SetReadDeadline(time.Now().Add(finalWait))
	<-t.done
	if t.last.Final == nil {
		return process.Exit{Code: -1}, nil
	}
	return process.Exit{Code: t.last.Final.Code}, knownPaths(t.last.Final.Modules)
}
