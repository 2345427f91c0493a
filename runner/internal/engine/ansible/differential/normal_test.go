package differential

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// variants are what differs between any two runs of a play: times, durations, process ids, names of temporary files.
// Nothing else is taken out of what is compared, but for task UUIDs, which are numbered in the order of their appearance.
var variants = []struct {
	what    string
	pattern *regexp.Regexp
	by      string
}{
	{"time", regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d)?`), "<time>"},
	{"time of a backup", regexp.MustCompile(`\.\d+\.\d{4}-\d\d-\d\d@\d\d:\d\d:\d\d~`), ".<time>~"},
	{"time in HTTP", regexp.MustCompile(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT`), "<time>"},
	{"duration", regexp.MustCompile(`\b\d+:\d\d:\d\d\.\d+`), "<duration>"},
	{"generation of a file", regexp.MustCompile(`"version": "\d{6,}"`), `"version": "<version>"`},
	{"length of a pause", regexp.MustCompile(`Paused for [\d.]+ `), "Paused for <duration> "},
	{"temporary directory of a task", regexp.MustCompile(`ansible-tmp-\d+\.\d+-\d+-\d+`), "ansible-tmp-<name>"},
	{"temporary directory of a module", regexp.MustCompile(`ansible-moduletmp-\d+\.\d+-\w{8}`), "ansible-moduletmp-<name>"},
	{"temporary directory of a run", regexp.MustCompile(`ansible-local-\d+\w{8}`), "ansible-local-<name>"},
	{"payload", regexp.MustCompile(`(ansible_[\w.]+_payload)_\w{8}`), "${1}_<name>"},
	{"temporary file", regexp.MustCompile(`\b(ansible\.|\.ansible_tmp|tmp)[a-z0-9_]{8}\b`), "${1}<name>"},
	{"async job", regexp.MustCompile(`\bj?\d{9,12}\.\d{1,8}\b`), "<job>"},
	{"address in memory", regexp.MustCompile(`\b0x[0-9a-f]{6,16}\b`), "<address>"},
	{"process id", regexp.MustCompile(`\b(pid|p)=\d+`), "$1=<number>"},
}

// variantKeys are fields whose whole value differs: times, inode numbers and process ids, and what an API server makes
// up for an object.
var variantKeys = map[string]bool{
	"atime": true, "mtime": true, "ctime": true, "inode": true, "dev": true, "pid": true,
	"start": true, "end": true, "delta": true, "elapsed": true,
	"creationTimestamp": true, "deletionTimestamp": true, "resourceVersion": true, "duration": true,
}

// variantFields matches such fields in JSON that was printed.
var variantFields = regexp.MustCompile(
	`"(atime|mtime|ctime|inode|dev|pid|start|end|delta|elapsed|\w+Timestamp|resourceVersion|duration)": ("[^"]*"|[\d.]+)`)

// generation matches what the module stat calls the version of a file: a number that the file system makes up.
var generation = regexp.MustCompile(`^(<\w+> )?\d{6,}$`)

var uuidPattern = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)

// uuidNumber matches what takes the place of ids.
var uuidNumber = regexp.MustCompile(`<uuid \d+>`)

// normalizer replaces what differs between any two runs.
type normalizer struct {
	constants map[string]string
	uuids     map[string]string
}

func (n *normalizer) text(text string) string {
	for value, name := range n.constants {
		text = strings.ReplaceAll(text, value, "<"+name+">")
	}
	text = uuidPattern.ReplaceAllStringFunc(text, func(uuid string) string {
		if n.uuids[uuid] == "" {
			n.uuids[uuid] = fmt.Sprintf("<uuid %d>", len(n.uuids)+1)
		}
		return n.uuids[uuid]
	})
	for _, v := range variants {
		text = v.pattern.ReplaceAllString(text, v.by)
	}
	return variantFields.ReplaceAllString(text, `"$1": <$1>`)
}

// moduleDir is the argument by which a module is told of a directory that was made for it; see "temporary directory" among the
// allowed differences. It is compared where it shows: in what modules return and leave behind.
const moduleDir = "_ansible_tmpdir"

func (n *normalizer) value(key string, value any) any {
	if key == moduleDir {
		return "<" + key + ">"
	}
	switch v := value.(type) {
	case string:
		if variantKeys[key] && v != "" || key == "version" && generation.MatchString(v) {
			return "<" + key + ">"
		}
		return n.text(v)
	case json.Number, float64:
		if variantKeys[key] {
			return "<" + key + ">"
		}
	case []any:
		for i, item := range v {
			v[i] = n.value(key, item)
		}
	case map[string]any:
		fields := make(map[string]any, len(v))
		if v["squashed"] != nil { // a loop_control, for which each worker makes an id: those of two may be alike
			delete(v, "uuid")
		}
		for _, name := range slices.Sorted(maps.Keys(v)) { // ids are numbered in this order
			fields[n.text(name)] = n.value(name, v[name])
		}
		return fields
	}
	return value
}

// taskUUIDs returns the ids of all tasks of a run.
func taskUUIDs(events []any) (uuids []string) {
	seen := map[string]bool{}
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			if uuid, ok := v["uuid"].(string); ok && v["action"] != nil && !seen[uuid] {
				seen[uuid] = true
				uuids = append(uuids, uuid)
			}
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(events)
	return uuids
}
