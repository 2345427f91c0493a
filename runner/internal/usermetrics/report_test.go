package usermetrics

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReports(t *testing.T) {
	const plain = "http://localhost:5050/metrics"
	tests := []struct {
		why    string
		bodies []string
		want   []string
	}{
		{"a counter begins at 0", []string{`{"name":"c","counter":{}}`}, []string{"c 0"}},
		{"increment adds 1", []string{`{"name":"c","counter":{"increment":true}}`}, []string{"c 1"}},
		{"increment wins over add, as ever", []string{`{"name":"c","counter":{"increment":true,"add":5}}`}, []string{"c 1"}},
		{"add", []string{`{"name":"c","counter":{"add":2}}`, `{"name":"c","counter":{"add":0.5}}`}, []string{"c 2.5"}},
		{"nulls, as the old module sends them, say nothing", []string{`{"name":"c","counter":{"increment":null,"add":2},"gauge":null,"histogram":null,"summary":null}`}, []string{"c 2"}},
		{"a gauge begins at 0", []string{`{"name":"g","gauge":{}}`}, []string{"g 0"}},
		{"set", []string{`{"name":"g","gauge":{"set":5}}`}, []string{"g 5"}},
		{"a gauge can be set to 0 (AO 10.1 no. 16)", []string{`{"name":"g","gauge":{"set":5}}`, `{"name":"g","gauge":{"set":0}}`}, []string{"g 0"}},
		{"null is not 0", []string{`{"name":"g","gauge":{"set":5}}`, `{"name":"g","gauge":{"set":null}}`}, []string{"g 5"}},
		{"a caller that says all is heard as ever", []string{`{"name":"g","gauge":{"set":0,"add":0,"subtract":0,"increment":false,"decrement":false,"set_to_current_time":true}}`}, []string{"g 1.6e+09"}},
		{"increment, decrement", []string{`{"name":"g","gauge":{"increment":true}}`, `{"name":"g","gauge":{"decrement":true}}`, `{"name":"g","gauge":{"decrement":true}}`}, []string{"g -1"}},
		{"add, subtract", []string{`{"name":"g","gauge":{"add":7}}`, `{"name":"g","gauge":{"subtract":14}}`}, []string{"g -7"}},
		{"the first of several counts", []string{`{"name":"g","gauge":{"add":7,"subtract":1,"set":3}}`}, []string{"g 7"}},
		{"a summary without a value counts nothing (AO 10.1 no. 16)", []string{`{"name":"s","summary":{}}`}, []string{"s_count 0", "s_sum 0"}},
		{"with one it does, 0 too", []string{`{"name":"s","summary":{"observe":2}}`, `{"name":"s","summary":{"observe":0}}`}, []string{"s_count 2", "s_sum 2"}},
		{"unknown keys do no harm", []string{`{"name":"c","counter":{"x":1},"labels":{}}`}, []string{"c 0"}},
		{"the first description stays", []string{`{"name":"c","description":"a","counter":{}}`, `{"name":"c","description":"b","counter":{}}`}, []string{"c 0"}},
	}
	for _, tt := range tests {
		s := newStage(t)
		for _, body := range tt.bodies {
			s.report(plain, body)
		}
		if diff := cmp.Diff(tt.want, s.page()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

func TestHistogram(t *testing.T) {
	s := newStage(t)
	s.report("http://localhost/metrics", `{"name":"h","histogram":{}}`) // counts nothing
	for _, value := range []string{"0.005", "2", "100"} {
		s.report("http://localhost/metrics", `{"name":"h","histogram":{"observe":`+value+`}}`)
	}
	got := s.page()
	for _, want := range []string{`h_bucket{le="0.005"} 1`, `h_bucket{le="1"} 1`, `h_bucket{le="2.5"} 2`, `h_bucket{le="10"} 2`, `h_bucket{le="+Inf"} 3`, "h_count 3", "h_sum 102.005"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, strings.Join(got, "\n"))
		}
	}
}

func TestRefusals(t *testing.T) {
	long := strings.Repeat("x", maxName+1)
	tests := []struct{ why, body, want string }{
		{"several", `{"name":"a","counter":{},"gauge":{}}`, "only one metric can be processed at a time"},
		{"none", `{"name":"a"}`, "a request should contain at least one metric"},
		{"null is none", `{"name":"a","gauge":null}`, "a request should contain at least one metric"},
		{"a counter goes up only", `{"name":"a","counter":{"add":-1}}`, "counter metrics cannot decrease in value"},
		{"type: counter", `{"name":"c","gauge":{}}`, "cannot change metric type of c, which is a counter"},
		{"type: gauge", `{"name":"g","counter":{}}`, "cannot change metric type of g, which is a gauge"},
		{"type: histogram", `{"name":"h","counter":{}}`, "cannot change metric type of h, which is a histogram or summary"},
		{"type: summary", `{"name":"s","gauge":{}}`, "cannot change metric type of s, which is a histogram or summary"},
		{"a histogram is no summary (AO 6.2)", `{"name":"h","summary":{}}`, "cannot change metric type of h, which is a histogram"},
		{"a summary is no histogram (AO 6.2)", `{"name":"s","histogram":{}}`, "cannot change metric type of s, which is a summary"},
		{"no name", `{"counter":{}}`, `"" is not the name of a metric; use letters, digits, _ and :, and no digit in front`},
		{"a bad name", `{"name":"a-b","counter":{}}`, `"a-b" is not the name of a metric; use letters, digits, _ and :, and no digit in front`},
		{"a digit", `{"name":"1a","counter":{}}`, `"1a" is not the name of a metric; use letters, digits, _ and :, and no digit in front`},
		{"a long name", `{"name":"` + long + `","counter":{}}`, "the name of the metric has 201 bytes; at most 200 are allowed"},
		{"a long description", `{"name":"a","counter":{},"description":"` + strings.Repeat("x", maxHelp+1) + `"}`, "the description of a has 2049 bytes; at most 2048 are allowed"},
		{"ours", `{"name":"ansible_operator_reconciles","counter":{}}`, "the name ansible_operator_reconciles is taken: names that begin with ansible_operator_ are the operator's own"},
		{"a part of what exists", `{"name":"h_count","counter":{}}`, "the name h_count is taken by parts of the metric h"},
		{"parts that exist", `{"name":"part","histogram":{}}`, "the name part is taken: a part of it would be part_sum, which is a metric already"},
		{"someone else's", `{"name":"foreign","counter":{}}`, "the name foreign is taken: it belongs to a metric of the operator"},
		{"a part of someone else's", `{"name":"foreign_sum","counter":{}}`, "the name foreign_sum is taken by parts of the metric foreign"},
		{"no JSON", `name=a`, "invalid character 'a' in literal null (expecting 'u')"},
		{"a text for a number", `{"name":"a","gauge":{"set":"5"}}`, "json: cannot unmarshal string into Go struct field gaugeOp.gauge.set of type float64"},
	}
	s := newStage(t)
	register(t, s, "foreign")
	for _, body := range []string{`{"name":"c","counter":{}}`, `{"name":"g","gauge":{}}`, `{"name":"h","histogram":{}}`, `{"name":"s","summary":{}}`, `{"name":"part_sum","gauge":{}}`} {
		s.report("http://localhost/metrics", body)
	}
	before := s.page()
	for _, tt := range tests {
		status, text := s.post("http://localhost/metrics", tt.body)
		if status != http.StatusBadRequest || text != tt.want {
			t.Errorf("%s: answer is %d %q, want 400 %q", tt.why, status, text, tt.want)
		}
	}
	if diff := cmp.Diff(before, s.page()); diff != "" {
		t.Errorf("what was refused has changed something (-before +after):\n%s", diff)
	}
}

// TestNamesBecomeFree: a name that nobody uses any more may get another type.
func TestNamesBecomeFree(t *testing.T) {
	s := newStage(t)
	url, closeURL := s.endpoint.Open(resource("one"))
	defer closeURL()
	for _, kind := range []string{"histogram", "counter", "summary", "gauge", "histogram"} {
		s.report(url, fmt.Sprintf(`{"name":"a","%s":{}}`, kind))
		s.store.Forget(resource("one"))
		if got := s.page(); len(got) > 0 {
			t.Errorf("after Forget the page has %v", got)
		}
	}
}

func FuzzReport(f *testing.F) {
	f.Add(`{"name":"c","description":"d","counter":{"increment":true,"add":1e308}}`)
	f.Add(`{"name":"h","gauge":{"set":0}}`)
	f.Add(`{"name":"c_sum","summary":{"observe":-1}}`)
	f.Add(`{"name":"\u0000","histogram":{}}`)
	f.Add(`{"name":"foreign_bucket","description":"\ud800","histogram":{}}`)
	f.Fuzz(func(t *testing.T, body string) {
		s := newStage(t)
		register(t, s, "foreign")
		url, closeURL := s.endpoint.Open(resource("one"))
		defer closeURL()
		for _, target := range []string{url, "http://localhost/metrics"} {
			if status, text := s.post(target, body); status != http.StatusOK && text == "" {
				t.Errorf("%d without a reason", status)
			}
		}
		s.page() // whatever it was, the page is shown
	})
}
