package warm

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// maxMessage bounds a message of a zygote in bytes. The longest has a list of files.
const maxMessage = 8 << 20

// hear handles the messages of a zygote until the end of them, or until one that makes no sense.
func (z *zygote) hear(from io.Reader) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxMessage)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("read what a zygote says: %w", err)
		}
		if err := z.handle(m); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (z *zygote) handle(m message) error {
	switch {
	case m.Ready != nil, m.Failed != nil:
		select {
		case z.said <- m:
			return nil
		default:
			return errOutOfTurn
		}
	case m.Started != nil:
		return z.hasAnswered(m.Started.ID, m)
	case m.Refused != nil:
		return z.hasAnswered(m.Refused.ID, m)
	case m.Ended != nil:
		return z.hasEnded(*m.Ended)
	default:
		return errOutOfTurn
	}
}
