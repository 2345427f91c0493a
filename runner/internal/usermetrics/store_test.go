package usermetrics

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// register registers a vector of someone else's that has no member yet, so that a look at the page would not find it.
func register(t testing.TB, s *stage, name string) {
	t.Helper()
	vector := prometheus.NewSummaryVec(prometheus.SummaryOpts{Name: name, Help: "Of someone else."}, []string{"l"})
	if err := s.registry.Register(vector); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		vector.WithLabelValues("x").Observe(1)
		s.page()
	})
}

func TestSeriesOfResources(t *testing.T) {
	s := newStage(t)
	one, closeOne := s.endpoint.Open(resource("one"))
	two, closeTwo := s.endpoint.Open(resource("two"))
	if one == two || !strings.HasPrefix(one, s.endpoint.URL()+"/") {
		t.Errorf("URLs are %s and %s", one, two)
	}
	for url, value := range map[string]string{one: "1", two: "2", s.endpoint.URL(): "3"} {
		s.report(url, `{"name":"app_backups","description":"`+value+`","gauge":{"set":`+value+`}}`)
	}
	want := []string{labelled("app_backups", "one") + " 1", labelled("app_backups", "two") + " 2", "app_backups 3"}
	slices.Sort(want)
	if diff := cmp.Diff(want, s.page()); diff != "" {
		t.Errorf("with and without labels (-want +got):\n%s", diff)
	}

	closeOne()
	if status, text := s.post(one, `{"name":"app_backups","gauge":{}}`); status != http.StatusNotFound || !strings.Contains(text, "has ended") {
		t.Errorf("after the run its URL answers %d %q", status, text)
	}
	if diff := cmp.Diff(want, s.page()); diff != "" {
		t.Errorf("what a run said stays after it (-want +got):\n%s", diff)
	}
	closeTwo()
	s.store.Forget(resource("two"))
	s.store.Forget(resource("never seen"))
	if diff := cmp.Diff(slices.DeleteFunc(want, func(line string) bool { return strings.Contains(line, "two") }), s.page()); diff != "" {
		t.Errorf("after two is gone (-want +got):\n%s", diff)
	}
}

func TestSuccessorBeginsAnew(t *testing.T) {
	s := newStage(t)
	old, successor := resource("one"), resource("one")
	successor.UID = "of-another"
	for _, run := range []struct {
		why  string
		of   func() (string, func())
		want string
	}{
		{"a first run", func() (string, func()) { return s.endpoint.Open(old) }, " 1"},
		{"counts on in the second", func() (string, func()) { return s.endpoint.Open(old) }, " 2"},
		{"another resource of the same name does not", func() (string, func()) { return s.endpoint.Open(successor) }, " 1"},
	} {
		url, closeURL := run.of()
		s.report(url, `{"name":"c","counter":{"increment":true}}`)
		closeURL()
		if diff := cmp.Diff([]string{labelled("c", "one") + run.want}, s.page()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", run.why, diff)
		}
	}
}

func TestLimits(t *testing.T) {
	s := newStage(t)
	for i := range maxNames {
		s.report("http://localhost/metrics", fmt.Sprintf(`{"name":"m%d","counter":{}}`, i))
	}
	if status, text := s.post("http://localhost/metrics", `{"name":"more","counter":{}}`); status != http.StatusBadRequest || text != "no room for more: there are 1000 metrics already" {
		t.Errorf("one more name: %d %q", status, text)
	}
	for i := range (maxSeries - maxNames) / maxNames {
		url, closeURL := s.endpoint.Open(resource(fmt.Sprint(i)))
		defer closeURL()
		for j := range maxNames {
			s.report(url, fmt.Sprintf(`{"name":"m%d","counter":{}}`, j))
		}
	}
	url, closeURL := s.endpoint.Open(resource("last"))
	defer closeURL()
	if status, text := s.post(url, `{"name":"m0","counter":{}}`); status != http.StatusBadRequest || text != "no room for m0: there are 10000 series of metrics already" {
		t.Errorf("one more series: %d %q", status, text)
	}
	if n := len(s.page()); n != maxSeries {
		t.Errorf("the page has %d series", n)
	}
	s.store.Forget(resource("0"))
	s.report(url, `{"name":"m0","counter":{}}`)
}

// TestManyAtOnce is AO 10.2: the old tool wrote its map without a lock.
func TestManyAtOnce(t *testing.T) {
	s := newStage(t)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			url, closeURL := s.endpoint.Open(resource(fmt.Sprint(i % 2)))
			defer closeURL()
			for j := range 50 {
				s.report(url, `{"name":"shared","counter":{"increment":true}}`)
				s.report("http://localhost/metrics", `{"name":"shared","counter":{"increment":true}}`)
				s.report(url, fmt.Sprintf(`{"name":"own_%d_%d","histogram":{"observe":1}}`, i, j))
				if j%10 == 0 {
					s.page()
				}
			}
		})
	}
	group.Wait()
	page := s.page()
	for _, want := range []string{"shared 400", labelled("shared", "0") + " 200", labelled("shared", "1") + " 200"} {
		if !slices.Contains(page, want) {
			t.Errorf("%s is not on the page", want)
		}
	}
}
