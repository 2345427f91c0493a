package ansible

import "testing"

func TestReadable(t *testing.T) {
	tests := map[string]struct{ reason, text, want string }{
		"Plain": {"most texts hold no answer", "found it", "found it"},
		"Word":  {"the word alone is no answer", "Status is bad", "Status is bad"},
		"Once": {
			"as the Python client prints a body",
			`Failed to create object: b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps is forbidden","reason":"Forbidden","code":403}\n'`,
			"Failed to create object: configmaps is forbidden",
		},
		"Twice": {
			"an answer within a string",
			`Failed: {\"kind\":\"Status\",\"message\":\"pods \\\"a\\\" not found\",\"code\":404}`,
			`Failed: pods "a" not found`,
		},
		"Broken": {"half an answer stays as it is", `{"kind":"Status","message":"x`, `{"kind":"Status","message":"x`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := readable(tt.text); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.reason, got, tt.want)
			}
		})
	}
}
