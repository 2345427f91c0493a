package input

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chartbook-operator/chartbook/runner/watches"
)

// largeSpec is a resource whose spec has about 500 KiB as JSON: many disks with some fields each.
func largeSpec(b *testing.B) map[string]any {
	b.Helper()
	disks := make([]any, 0, 4600)
	for i := range cap(disks) {
		disks = append(disks, map[string]any{
			"diskName": fmt.Sprintf("disk-%d", i), "sizeGiB": int64(i), "storageClassName": "fast", "accessModes": []any{"ReadWriteOnce"}, "encrypted": true,
		})
	}
	obj := map[string]any{"metadata": map[string]any{"name": "large", "namespace": "here"}, "spec": map[string]any{"dataDisks": disks}}
	text, err := json.Marshal(obj)
	if err != nil || len(text) < 450<<10 {
		b.Fatalf("the resource has %d bytes, error %v", len(text), err)
	}
	b.SetBytes(int64(len(text)))
	return obj
}

func BenchmarkExtraVars(b *testing.B) {
	for name, markUnsafe := range map[string]bool{"plain": false, "unsafe": true} {
		b.Run(name, func(b *testing.B) {
			obj, w := largeSpec(b), sampleWatch()
			w.MarkUnsafe = markUnsafe
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ExtraVars(obj, w, someRun); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkValues(b *testing.B) {
	obj := largeSpec(b)
	w := watches.Watch{OverrideValues: []watches.OverrideValue{{Key: "image.tag", Value: "1.2.3"}, {Key: "dataDisks[5].sizeGiB", Value: "9"}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Values(obj, w, Given{}); err != nil {
			b.Fatal(err)
		}
	}
}
