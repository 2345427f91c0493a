package helm

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type crdType = apiextensionsv1.CustomResourceDefinition

// strictSpec is a schema that prunes unknown fields and fills in a default in the items of a list.
func strictSpec() apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"known": {Type: "string"},
		"items": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"x": {Type: "integer"},
				"y": {Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"default"`)}},
			},
		}}},
	}}
}
