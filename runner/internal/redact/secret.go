package redact

import (
	"encoding/base64"
	"maps"
	"slices"
)

// LearnSecret makes the values of a v1 Secret known, or those of each Secret of a SecretList: data as it stands and
// decoded, and stringData. Objects of other kinds teach nothing.
func (v *Values) LearnSecret(obj map[string]any) {
	if obj["apiVersion"] != "v1" {
		return
	}
	switch obj["kind"] {
	case "Secret":
		v.learnData(obj)
	case "SecretList", "List":
		items, _ := obj["items"].([]any)
		for _, item := range items {
			entry, _ := item.(map[string]any)
			if kind, named := entry["kind"]; kind == "Secret" || (!named && obj["kind"] == "SecretList") {
				v.learnData(entry)
			}
		}
	}
}

func (v *Values) learnData(secret map[string]any) {
	data, _ := secret["data"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(data)) {
		text, _ := data[key].(string)
		value, err := base64.StdEncoding.DecodeString(text)
		if err != nil { // the API server refuses it, and may quote it
			value = []byte(text)
		}
		v.Learn(value)
	}
	plain, _ := secret["stringData"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(plain)) {
		text, _ := plain[key].(string)
		v.Learn([]byte(text))
	}
}
