package controller

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/chartbook-operator/chartbook/runner/internal/redact"
)

// secretsOf returns what a resource's runs must not tell: the data of a Secret from the start, and what a run reads
// later, which its session makes known.
func secretsOf(obj *unstructured.Unstructured) *redact.Values {
	secrets := &redact.Values{}
	secrets.LearnSecret(obj.Object)
	return secrets
}
