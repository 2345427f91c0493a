package differential

import (
	"regexp"
	"slices"
	"strings"
)

// difference is one in which warm may differ from direct. A project that shows it names it, and fails when it does not
// show it any more.
type difference struct {
	why    string
	forget func(r *record)
}

// allowed are all differences there may ever be.
var allowed = map[string]difference{
	"temporary directory": {
		why: "no temporary directory is made to put a module into, as with pipelining, nor do commands for that show at -vvv",
		forget: func(r *record) {
			drop(r, "beside")
			replace(r, moduleCommands, "")
		},
	},
	"traceback": {
		why:    "the traceback of a module lacks the frames of the wrapper that it is not wrapped in",
		forget: func(r *record) { each(r, withoutFrames) },
	},
	"imported": {
		why:    "more Python modules are imported than the Ansible module has asked for",
		forget: func(r *record) { drop(r, "imported") },
	},
	"payload": {
		why: "a module that is killed leaves no payload behind, since it has none",
		forget: func(r *record) {
			r.files = slices.DeleteFunc(r.files, func(line string) bool { return payloadFile.MatchString(line) })
		},
	},
	"polls": {
		why: "how often an async task is asked for its state depends on how fast that goes",
		forget: func(r *record) {
			r.events = slices.DeleteFunc(r.events, func(event any) bool {
				fields, _ := event.(map[string]any)
				name, _ := fields["event"].(string)
				return strings.HasSuffix(name, "runner_on_async_poll") || strings.HasSuffix(name, "runner_retry")
			})
			drop(r, "attempts")
			replace(r, uuidNumber, "<uuid>") // those of polls have been numbered, too
			replace(r, pollLines, "")
		},
	},
}

var (
	moduleCommands  = regexp.MustCompile(`(?m)^(<\w+> (EXEC|PUT) .*|Pipelining is enabled\.)\n`)
	tracebackFrames = regexp.MustCompile(`(  File "[^\n]*\n(    [^\n]*\n)*(  \[Previous line [^\n]*\n)?)+`)
	pollLines       = regexp.MustCompile(`(?m)^(ASYNC POLL|FAILED - RETRYING).*\n`)
	payloadFile     = regexp.MustCompile(`(ansible_[\w.]+_payload_<name>|ansible-tmp-<name>)`)
)

// withoutFrames removes what tracebacks say of the way to the error, in a text as it is or as JSON has it.
func withoutFrames(text string) string {
	if !strings.Contains(text, "Traceback") {
		return text
	}
	text = strings.NewReplacer(`\n`, "\n", `\"`, `"`).Replace(text)
	return tracebackFrames.ReplaceAllString(text, "<frames>\n")
}

// replace replaces what matches in all texts of a record.
func replace(r *record, pattern *regexp.Regexp, by string) {
	each(r, func(text string) string { return pattern.ReplaceAllString(text, by) })
}

func each(r *record, change func(string) string) {
	r.stdout, r.stderr = change(r.stdout), change(r.stderr)
	r.result.Message = change(r.result.Message)
	for i := range r.result.Failures {
		r.result.Failures[i].Message = change(r.result.Failures[i].Message)
	}
	for i, event := range r.events {
		r.events[i] = eachText(event, change)
	}
}

func eachText(value any, change func(string) string) any {
	switch v := value.(type) {
	case string:
		return change(v)
	case []any:
		all := make([]any, len(v))
		for i, item := range v {
			all[i] = eachText(item, change)
		}
		return all
	case map[string]any:
		fields := make(map[string]any, len(v))
		for name, item := range v {
			fields[name] = eachText(item, change)
		}
		return fields
	}
	return value
}

// drop removes a field from all events of a record, and from texts that print it.
func drop(r *record, field string) {
	for _, event := range r.events {
		dropField(event, field)
	}
	replace(r, regexp.MustCompile(`"`+regexp.QuoteMeta(field)+`": ("[^"]*"|\[[^\]]*\]|[\w.]+),?\s*`), "")
}

func dropField(value any, field string) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			dropField(item, field)
		}
	case map[string]any:
		delete(v, field)
		for _, item := range v {
			dropField(item, field)
		}
	}
}
