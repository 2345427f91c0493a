package status

import (
	"reflect"
)

// diff returns the JSON merge patch that turns one object into another; empty if they are equal.
func diff(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for key := range from {
		if _, there := to[key]; !there {
			patch[key] = nil
		}
	}
	for key, want := range to {
		have, there := from[key]
		if there && reflect.DeepEqual(have, want) {
			continue
		}
		patch[key] = change(have, want)
	}
	return patch
}

func change(have, want any) any {
	wantMap, isMap := want.(map[string]any)
	haveMap, wasMap := have.(map[string]any)
	if isMap && wasMap {
		return diff(haveMap, wantMap)
	}
	return want
}
