package main

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// recordAnnotation holds, as JSON, what would be the status of a kind that has none of ours.
const recordAnnotation = "chartbook.dev/status"

// condition is one condition of a status; its fields are empty if there is none.
type condition struct {
	status, reason, message string
	observed                int64 // zero if it says nothing about the generation
}

// conditionOf returns the condition of a type from a status, whatever that is.
func conditionOf(status any, kind string) condition {
	fields, _ := status.(map[string]any)
	list, _ := fields["conditions"].([]any)
	for _, entry := range list {
		c, _ := entry.(map[string]any)
		if c["type"] != kind {
			continue
		}
		var found condition
		found.status, _ = c["status"].(string)
		found.reason, _ = c["reason"].(string)
		found.message, _ = c["message"].(string)
		found.observed = number(c["observedGeneration"])
		return found
	}
	return condition{}
}

// number reads a number as any JSON decoder may give it.
func number(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

// statusOf returns what the operator recorded about an object: in the annotation where there is one, else in status.
func statusOf(obj *unstructured.Unstructured) (status any, annotated bool) {
	record, annotated := obj.GetAnnotations()[recordAnnotation]
	if !annotated {
		return obj.Object["status"], false
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(record), &fields); err != nil {
		return nil, true
	}
	return fields, true
}
