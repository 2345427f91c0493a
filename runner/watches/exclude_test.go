package watches

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func TestSelectorsThatExcludeEachOther(t *testing.T) {
	for _, test := range []struct {
		why, a, b string
		want      bool
	}{
		{"other values", "matchLabels: {v: a}", "matchLabels: {v: b}", true},
		{"the same value", "matchLabels: {v: a}", "matchLabels: {v: a}", false},
		{"other labels", "matchLabels: {v: a}", "matchLabels: {w: b}", false},
		{"everything else", "matchLabels: {v: a}", "matchExpressions: [{key: v, operator: NotIn, values: [a, b]}]", true},
		{"almost everything else", "matchLabels: {v: c}", "matchExpressions: [{key: v, operator: NotIn, values: [a, b]}]", false},
		{"sets without a common value", "matchExpressions: [{key: v, operator: In, values: [a, b]}]", "matchExpressions: [{key: v, operator: In, values: [c]}]", true},
		{"sets with one", "matchExpressions: [{key: v, operator: In, values: [a, b]}]", "matchExpressions: [{key: v, operator: In, values: [b, c]}]", false},
		{"there and not there", "matchExpressions: [{key: v, operator: Exists}]", "matchExpressions: [{key: v, operator: DoesNotExist}]", true},
		{"a value and not there", "matchLabels: {v: a}", "matchExpressions: [{key: v, operator: DoesNotExist}]", true},
		{"not a value and not there", "matchExpressions: [{key: v, operator: NotIn, values: [a]}]", "matchExpressions: [{key: v, operator: DoesNotExist}]", false},
		{"two that exclude values", "matchExpressions: [{key: v, operator: NotIn, values: [a]}]", "matchExpressions: [{key: v, operator: NotIn, values: [b]}]", false},
		{"one of several labels is enough", "matchLabels: {v: a, w: x}", "matchLabels: {v: a, w: y}", true},
		{"everything", "{}", "matchLabels: {v: a}", false},
	} {
		a, b := selectorOf(t, test.a), selectorOf(t, test.b)
		if exclude(a, b) != test.want || exclude(b, a) != test.want {
			t.Errorf("%s: %v and %v, want %v", test.why, exclude(a, b), exclude(b, a), test.want)
		}
	}
}

func selectorOf(t *testing.T, text string) metav1.LabelSelector {
	t.Helper()
	var s metav1.LabelSelector
	if err := yaml.UnmarshalStrict([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}
