package helm

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Annotations on the record of a revision that somebody is at work on: who, and when he last said so.
const (
	holderAnnotation = "chartbook.dev/holder"
	heldAtAnnotation = "chartbook.dev/held-at"
)

// A claim is renewed while the work goes on, and counts for nothing when it was not renewed for a while.
const (
	renewAfter = 5 * time.Second
	claimedFor = 15 * time.Second
)

// claim says who works on a revision.
type claim struct {
	holder string
	at     string // changes with each renewal; not compared with any clock, for clocks differ
}

func claimOf(annotations map[string]string) claim {
	return claim{holder: annotations[holderAnnotation], at: annotations[heldAtAnnotation]}
}

// who names the holder for people.
func (c claim) who() string {
	host, _, _ := strings.Cut(c.holder, "_")
	return "the operator in " + host
}

// annotations are how a claim is written down.
func (c claim) annotations() map[string]string {
	return map[string]string{holderAnnotation: c.holder, heldAtAnnotation: c.at}
}

// self names this process. Another process on the same machine can tell from it whether this one still lives.
var self = nameProcess()

func nameProcess() string {
	host, _ := os.Hostname()
	return strings.Join([]string{host, rand.Text()[:8], machine(), strconv.Itoa(os.Getpid()), startOf(os.Getpid())}, "_")
}

// machine identifies what process ids are unique in: this boot of the kernel and the namespace of ids. It is empty where
// that cannot be told.
func machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	ids, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "." + strings.Trim(strings.TrimPrefix(ids, "pid:"), "[]")
}

// startOf returns when a process was started, in the kernel's own count; empty if there is no such process.
func startOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	const start = 19 // among the fields after the program's name, which stands in parentheses
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= start || fields[0] == "Z" {
		return ""
	}
	return fields[start]
}

// gone reports whether a holder's process is known to have ended.
func gone(holder string) bool {
	parts := strings.Split(holder, "_")
	if len(parts) != 5 || parts[2] == "" || parts[2] != machine() {
		return false
	}
	pid, err := strconv.Atoi(parts[3])
	return err == nil && startOf(pid) != parts[4]
}

// sighting is when a claim was first seen as it is.
type sighting struct {
	claim claim
	at    time.Time
}

// heldFor returns for how long another operator's claim still has to be respected, unless it is renewed; zero for none.
func (e *Engine) heldFor(uid types.UID, c claim) time.Duration {
	if c.holder == "" || c.holder == self || e.cfg.Alone || gone(c.holder) {
		return 0
	}
	now := e.cfg.Clock.Now()
	value, _ := e.claims.Get(uid)
	seen, ok := value.(sighting)
	if !ok || seen.claim != c {
		seen = sighting{claim: c, at: now}
		e.claims.Add(uid, seen)
	}
	return max(claimedFor-now.Sub(seen.at), 0)
}
