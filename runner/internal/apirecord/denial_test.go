package apirecord_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/chartbook-operator/chartbook/runner/internal/apirecord"
	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

func TestParseDenial(t *testing.T) {
	const (
		plain       = `configmaps is forbidden: User "u" cannot list resource "configmaps" in API group "" at the cluster scope`
		namespaced  = `pods "p" is forbidden: User "u" cannot create resource "pods/exec" in API group "" in the namespace "a"`
		byApply     = `deployments.apps "d" is forbidden: User "u" cannot create resource "deployments" in API group "apps" in the namespace "a"`
		impersonate = `users "v" is forbidden: User "u" cannot impersonate resource "users" in API group "" at the cluster scope`
		quota       = `pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`
		dying       = `configmaps "c" is forbidden: unable to create new content in namespace a because it is being terminated`
	)
	for _, tc := range []struct {
		why     string
		req     apirecord.Request
		code    int32
		message string
		want    engine.Denial
		ok      bool
	}{
		{
			why: "a list over all namespaces", req: apirecord.Request{Verb: "list", Resource: "configmaps"},
			message: plain, ok: true,
			want: engine.Denial{Verb: "list", Resource: "configmaps", Message: plain},
		},
		{
			why:     "a subresource is part of the resource's name, and the object is known",
			req:     apirecord.Request{Verb: "create", Resource: "pods", Subresource: "exec", Namespace: "a", Name: "p"},
			message: namespaced, ok: true,
			want: engine.Denial{Verb: "create", Resource: "pods/exec", Namespace: "a", Name: "p", Message: namespaced},
		},
		{
			why:     "applying something new needs create, so patch would be the wrong rule to name",
			req:     apirecord.Request{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "a", Name: "d"},
			message: byApply, ok: true,
			want: engine.Denial{Verb: "create", Group: "apps", Resource: "deployments", Namespace: "a", Name: "d", Message: byApply},
		},
		{
			why: "acting in someone's name is a right of its own, on another resource", req: apirecord.Request{Verb: "get", Resource: "pods", Name: "p"},
			message: impersonate, ok: true,
			want: engine.Denial{Verb: "impersonate", Resource: "users", Message: impersonate},
		},
		{why: "no rule helps against a quota", req: apirecord.Request{Verb: "create", Resource: "pods"}, message: quota},
		{why: "nor against a namespace on its way out", req: apirecord.Request{Verb: "create", Resource: "configmaps"}, message: dying},
		{why: "the words alone do not do", req: apirecord.Request{Verb: "list", Resource: "configmaps"}, code: http.StatusConflict, message: plain},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if tc.code == 0 {
				tc.code = http.StatusForbidden
			}
			got, ok := apirecord.ParseDenial(tc.req, metav1.Status{Code: tc.code, Message: tc.message})
			if ok != tc.ok {
				t.Errorf("ParseDenial found a missing right: %v, want %v", ok, tc.ok)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("ParseDenial (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDenialMessageIsBounded(t *testing.T) {
	message := `User "u" cannot get resource "pods" in API group "" in the namespace "` + strings.Repeat("ä", 4<<10) + `"`
	got, ok := apirecord.ParseDenial(apirecord.Request{}, metav1.Status{Code: http.StatusForbidden, Message: message})
	if !ok {
		t.Fatal("ParseDenial found no missing right")
	}
	if n := len(got.Message); n > 1<<10 || n < 1<<10-4 {
		t.Errorf("the message has %d bytes, want 1 KiB at most and little less", n)
	}
}
