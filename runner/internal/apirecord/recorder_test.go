package apirecord_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

var (
	createMap = apirecord.Request{Verb: "create", Version: "v1", Resource: "configmaps", Namespace: "a"}
	deleteMap = apirecord.Request{Verb: "delete", Version: "v1", Resource: "configmaps", Namespace: "a", Name: "c"}
	getMap    = apirecord.Request{Verb: "get", Version: "v1", Resource: "configmaps", Namespace: "a", Name: "c"}

	mapGVK = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

const configMap = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c","namespace":"a","uid":"u1","resourceVersion":"7"},"data":{"k":"v"}}`

// reply is what the API server says.
type reply struct {
	code        int    // default 200
	contentType string // default JSON
	body        string
	encoding    string
}

func (r reply) response() *http.Response {
	resp := &http.Response{
		StatusCode:    cmp.Or(r.code, http.StatusOK),
		Header:        http.Header{"Content-Type": {cmp.Or(r.contentType, "application/json")}},
		Body:          io.NopCloser(strings.NewReader(r.body)),
		ContentLength: int64(len(r.body)),
	}
	if r.encoding != "" {
		resp.Header.Set("Content-Encoding", r.encoding)
	}
	return resp
}

// passTo lets a recorder see the reply to a request, and returns what a client then reads.
func (r reply) passTo(t *testing.T, recorder *apirecord.Recorder, req apirecord.Request) string {
	t.Helper()
	resp := r.response()
	defer resp.Body.Close()
	recorder.Observe(req, resp)
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestWrites(t *testing.T) {
	for _, tc := range []struct {
		why  string
		req  apirecord.Request
		resp reply
		want []engine.Write
	}{
		{
			why: "a created object is named by its answer", req: createMap,
			resp: reply{code: http.StatusCreated, body: configMap},
			want: []engine.Write{{GVK: mapGVK, Namespace: "a", Name: "c", UID: "u1", ResourceVersion: "7"}},
		},
		{
			why: "most kinds answer a deletion with a Status, which says only which object is gone", req: deleteMap,
			resp: reply{body: `{"kind":"Status","apiVersion":"v1","status":"Success","details":{"name":"c","kind":"configmaps","uid":"u1"}}`},
			want: []engine.Write{{GVK: schema.GroupVersionKind{Version: "v1"}, Namespace: "a", Name: "c", UID: "u1", Deleted: true}},
		},
		{
			why: "one with finalizers is answered with", req: deleteMap,
			resp: reply{code: http.StatusOK, contentType: "application/json; charset=utf-8", body: configMap},
			want: []engine.Write{{GVK: mapGVK, Namespace: "a", Name: "c", UID: "u1", ResourceVersion: "7", Deleted: true}},
		},
		{
			why: "an answer that cannot be read is still a change", req: deleteMap,
			resp: reply{code: http.StatusOK, contentType: "text/html", body: "<p>gone</p>"},
			want: []engine.Write{{GVK: schema.GroupVersionKind{Version: "v1"}, Namespace: "a", Name: "c", Deleted: true}},
		},
		{
			why: "so is one that breaks off", req: createMap,
			resp: reply{code: http.StatusCreated, body: configMap[:40]},
			want: []engine.Write{{GVK: schema.GroupVersionKind{Version: "v1"}, Namespace: "a"}},
		},
		{
			why: "and one that is too long to keep", req: createMap,
			resp: reply{code: http.StatusCreated, body: configMap + strings.Repeat(" ", 4<<20)},
			want: []engine.Write{{GVK: schema.GroupVersionKind{Version: "v1"}, Namespace: "a"}},
		},
		{why: "a refusal changes nothing", req: createMap, resp: reply{code: http.StatusConflict, body: configMap}},
		{why: "neither does a read", req: getMap, resp: reply{body: configMap}},
		{
			why: "nor a dry run", req: apirecord.Request{Verb: "create", Version: "v1", Resource: "configmaps", DryRun: true},
			resp: reply{code: http.StatusCreated, body: configMap},
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var recorder apirecord.Recorder
			tc.resp.passTo(t, &recorder, tc.req)
			if diff := gocmp.Diff(tc.want, recorder.Writes()); diff != "" {
				t.Errorf("Writes() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSameStateIsWrittenOnce(t *testing.T) {
	var recorder apirecord.Recorder
	for range 3 { // an empty patch is answered with the object as it was
		reply{body: configMap}.passTo(t, &recorder, createMap)
	}
	if got := len(recorder.Writes()); got != 1 {
		t.Errorf("%d writes for one state, want 1", got)
	}
}

func TestWritesAreBounded(t *testing.T) {
	const most = 16 << 10
	var recorder apirecord.Recorder
	for i := range most + 1 {
		resp := reply{body: fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"uid":"u","resourceVersion":"%d"}}`, i+1)}
		resp.passTo(t, &recorder, createMap)
	}
	writes := recorder.Writes()
	if len(writes) > most {
		t.Errorf("%d writes are remembered, want at most %d", len(writes), most)
	}
	if last := writes[len(writes)-1].ResourceVersion; last != fmt.Sprint(most+1) {
		t.Errorf("the newest write that is remembered is %s, want %d", last, most+1)
	}
}

func TestAnswerPassesUnchanged(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := io.WriteString(w, configMap); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var recorder apirecord.Recorder
	if got := (reply{encoding: "gzip", body: zipped.String()}).passTo(t, &recorder, createMap); got != zipped.String() {
		t.Error("the answer was altered")
	}
	if got := recorder.Writes()[0].UID; got != "u1" {
		t.Errorf("the object has UID %q, want that of the answer below its compression", got)
	}
}

func TestAnswerThatIsNotReadToItsEnd(t *testing.T) {
	resp := reply{body: configMap}.response()
	var recorder apirecord.Recorder
	recorder.Observe(createMap, resp)
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if got := len(recorder.Writes()); got != 1 {
		t.Errorf("%d writes, want the one that the client did not care about", got)
	}
}

func TestDenials(t *testing.T) {
	var recorder apirecord.Recorder
	refuse := func(name, resource string) {
		resp := reply{code: http.StatusForbidden, body: fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","code":403,
			"message":"x is forbidden: User \"u\" cannot get resource \"%s\" in API group \"\" in the namespace \"a\""}`, resource)}
		resp.passTo(t, &recorder, apirecord.Request{Verb: "get", Resource: resource, Namespace: "a", Name: name})
	}
	refuse("one", "secrets")
	refuse("two", "secrets")
	if got := recorder.Denials(); len(got) != 1 || got[0].Name != "one" {
		t.Errorf("denials are %v, want one for each right that is missing", got)
	}
	for i := range 100 {
		refuse("x", fmt.Sprintf("kind%d", i))
	}
	if got := len(recorder.Denials()); got != 64 {
		t.Errorf("%d denials are remembered, want 64", got)
	}
}

func TestSeen(t *testing.T) {
	var seen []string
	recorder := apirecord.Recorder{
		Inspect: func(req apirecord.Request) bool { return req.Name == "c" },
		Seen: func(req apirecord.Request, obj metav1.PartialObjectMetadata) {
			seen = append(seen, req.Verb+" "+obj.Kind+"/"+obj.Name)
		},
	}
	dryRun := createMap
	dryRun.DryRun = true
	list := getMap
	list.Verb = "list"
	other := getMap
	other.Name = "other"
	for _, req := range []apirecord.Request{createMap, dryRun, getMap, list, other} {
		reply{body: configMap}.passTo(t, &recorder, req)
	}
	want := []string{"create ConfigMap/c", "create ConfigMap/c", "get ConfigMap/c"}
	if diff := gocmp.Diff(want, seen); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
}

func TestStreamsAreLeftAlone(t *testing.T) {
	recorder := apirecord.Recorder{Inspect: func(apirecord.Request) bool { return true }}
	resp := reply{contentType: "application/json;stream=watch", body: configMap}.response()
	defer resp.Body.Close()
	body := resp.Body
	recorder.Observe(getMap, resp)
	if resp.Body != body {
		t.Error("the body of a stream was replaced")
	}
}
