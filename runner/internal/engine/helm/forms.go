package helm

import (
	"encoding/base64"
	"encoding/json"
)

// forms returns the ways in which a secret can turn up in a text.
func forms(secret string) []string {
	out := []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))}
	if quoted, err := json.Marshal(secret); err == nil {
		out = append(out, string(quoted[1:len(quoted)-1]))
	}
	return out
}
