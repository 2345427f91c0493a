package proxy

import (
	"encoding/json"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var reasons = map[int32]metav1.StatusReason{
	http.StatusUnauthorized:       metav1.StatusReasonUnauthorized,
	http.StatusForbidden:          metav1.StatusReasonForbidden,
	http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable,
}

// refuse answers in place of the API server, in its manner.
func refuse(w http.ResponseWriter, code int32, message string) {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure,
		Reason:   reasons[code],
		Code:     code,
		Message:  "chartbook's proxy: " + message,
	})
	if err != nil {
		body = nil // not reached: nothing in it can fail
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(code))
	_, _ = w.Write(body) // who does not listen misses it
}

// unreachable answers when the API server did not.
func unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client or its session is gone; nobody takes an answer
	}
	refuse(w, http.StatusServiceUnavailable, "the API server cannot be reached: "+err.Error())
}
