package dependents

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

const list = `{"kind": "ThingList", "apiVersion": "v1", "metadata": {"resourceVersion": "9", "continue": "next"}, "extra": [1, {"items": []}],
	"items": [{"metadata": {"name": "a"}, "spec": {"n": 1, "x": 1.5}}, {"metadata": {"name": "b"}, "spec": {"big": 9007199254740993}}]}`

func TestReadList(t *testing.T) {
	for _, tc := range []struct {
		why, text string
		want      []string
		fails     bool
	}{
		{why: "items and metadata, whatever else there is", text: list, want: []string{"a", "b"}},
		{why: "no items", text: `{"metadata": {"resourceVersion": "9", "continue": "next"}, "items": []}`},
		{why: "null is how Go says no items", text: `{"items": null, "metadata": {"resourceVersion": "9", "continue": "next"}}`},
		{why: "an answer that breaks off is no list", text: list[:len(list)-20], want: []string{"a"}, fails: true},
		{why: "an item that is no object", text: `{"items": [null]}`, fails: true},
		{why: "items that are no list", text: `{"items": {}}`, fails: true},
		{why: "no object at all", text: `[]`, fails: true},
		{why: "nothing", fails: true},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var got []string
			listMeta, err := readList(strings.NewReader(tc.text), func(object map[string]any) {
				got = append(got, (&unstructured.Unstructured{Object: object}).GetName())
			})
			if (err != nil) != tc.fails {
				t.Errorf("the error is %v, want one: %v", err, tc.fails)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
			if !tc.fails && (listMeta.ResourceVersion != "9" || listMeta.Continue != "next") {
				t.Errorf("the list's metadata is %v", listMeta)
			}
		})
	}
}

// FuzzReadList compares with client-go's own reading: a list must show the same objects as a watch, or all would seem
// to have changed.
func FuzzReadList(f *testing.F) {
	f.Add([]byte(list))
	f.Add([]byte(`{"kind": "TList", "apiVersion": "v1", "items": [{"kind": "T", "a": {"b": [1, 2.0, -0, 1e3, "x", null, true]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var got []map[string]any
		_, err := readList(strings.NewReader(string(data)), func(object map[string]any) { got = append(got, object) })
		if err != nil {
			return
		}
		var want unstructured.UnstructuredList
		if want.UnmarshalJSON(data) != nil || len(want.Items) != len(got) {
			return // it wants a kind, and of a field that is there twice it takes the last
		}
		for i, object := range got {
			for _, key := range []string{"apiVersion", "kind"} { // client-go fills them in
				delete(object, key)
				delete(want.Items[i].Object, key)
			}
			if diff := cmp.Diff(want.Items[i].Object, object); diff != "" {
				t.Errorf("item %d (-as client-go reads it +got):\n%s", i, diff)
			}
		}
	})
}

// foreign are the Secrets of a big cluster, none of them ours: three times as much as the memory that they may cost. With
// ten times as many it costs no more.
const (
	foreignCount = 600
	foreignSize  = 100 << 10
)

// bigCluster is an API server with many big Secrets.
type bigCluster struct {
	streams bool // it offers streams in place of lists
	asked   chan string
}

func (b *bigCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	query := r.URL.Query()
	switch {
	case !query.Has("watch"):
		b.asked <- "list"
		fmt.Fprint(w, `{"kind": "SecretList", "apiVersion": "v1", "metadata": {"resourceVersion": "9000"}, "items": [`)
		for i := range foreignCount {
			if i > 0 {
				fmt.Fprint(w, ",")
			}
			b.secret(w, i)
		}
		fmt.Fprint(w, `]}`)
		return
	case query.Has("sendInitialEvents") && !b.streams:
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422,
			"message": "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"}`)
		return
	case query.Has("sendInitialEvents"):
		b.asked <- "stream"
		for i := range foreignCount {
			fmt.Fprint(w, `{"type": "ADDED", "object": `)
			b.secret(w, i)
			fmt.Fprintln(w, `}`)
		}
		fmt.Fprintln(w, `{"type": "BOOKMARK", "object": {"kind": "Secret", "apiVersion": "v1",
			"metadata": {"resourceVersion": "9000", "annotations": {"k8s.io/initial-events-end": "true"}}}}`)
	}
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

var padding = bytes.Repeat([]byte("x"), foreignSize)

func (b *bigCluster) secret(w http.ResponseWriter, i int) {
	fmt.Fprintf(w, `{"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "s%d", "namespace": "n", "uid": "u%d", "resourceVersion": "%d"}, "data": {"k": "`, i, i, i+1)
	_, _ = w.Write(padding)
	fmt.Fprint(w, `"}}`)
}

// TestMemoryWithManyForeignSecrets covers B5 of the users' complaints: an operator of which one child is a Secret must
// not hold all Secrets of the cluster, not even for the moment in which it gets to know them. Answers of 500 MB come
// from API servers that stream and from older ones that put all into one list.
// Covers AO 10.4 no. 2.
func TestMemoryWithManyForeignSecrets(t *testing.T) {
	for _, how := range []string{"stream", "list"} {
		t.Run(how, func(t *testing.T) {
			cluster := &bigCluster{streams: how == "stream", asked: make(chan string, 10)}
			server := httptest.NewServer(cluster)
			t.Cleanup(server.Close)
			mapper := meta.NewDefaultRESTMapper(nil)
			mapper.Add(secretGVK, meta.RESTScopeNamespace)
			known := make(chan struct{}, 10)
			registry, err := New(Config{
				RESTConfig: &rest.Config{Host: server.URL, QPS: -1}, Mapper: mapper,
				Log: logr.New(lineSink{found: known, want: "Children are known"}),
			})
			if err != nil {
				t.Fatal(err)
			}
			registry.AddPrimary(Primary{GVK: appGVK})
			registry.Watch(appGVK, secretGVK)
			memory := watchMemory(t)
			begin(t, registry)

			select {
			case <-known:
			case <-time.After(2 * time.Minute):
				t.Fatal("the Secrets are not known")
			}
			peak, left := memory()
			if got := <-cluster.asked; got != how {
				t.Errorf("the API server was asked for a %s, want a %s", got, how)
			}
			t.Logf("%d Secrets of %d KiB by %s: the heap rises by %d KiB at most and %d KiB in the end",
				foreignCount, foreignSize>>10, how, peak>>10, left>>10)
			if peak > 20<<20 || left > 2<<20 {
				t.Errorf("the heap rises by %d KiB at most and %d KiB in the end, want less than 20 MiB and 2 MiB", peak>>10, left>>10)
			}
		})
	}
}

// watchMemory measures the heap until the returned function is called, which tells by how much it rose at most,
// garbage included, and what is left of that.
func watchMemory(t *testing.T) func() (peak, left int64) {
	t.Helper()
	before := heapAfterGC()
	done, peak := make(chan struct{}), make(chan int64, 1)
	go func() {
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		most := int64(0)
		for {
			select {
			case <-ticker.C:
				most = max(most, heapNow())
			case <-done:
				peak <- most
				return
			}
		}
	}()
	return func() (int64, int64) {
		close(done)
		return <-peak - before, heapAfterGC() - before
	}
}

func heapNow() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
