package controller

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// ageGauge keeps the metric of when resources were created; nil keeps none.
type ageGauge struct {
	created func(obj *unstructured.Unstructured)
	deleted func(obj *unstructured.Unstructured)
}

func (g *ageGauge) set(obj *unstructured.Unstructured) {
	if g != nil {
		g.created(obj)
	}
}

func (g *ageGauge) drop(obj *unstructured.Unstructured) {
	if g != nil {
		g.deleted(obj)
	}
}
