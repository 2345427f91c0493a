package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// readManifests returns the objects of all YAML files in dir, in the order of the files' names. What kustomize needs
// is left out.
func readManifests(dir string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("look for manifests in %s: %w", dir, err)
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read a manifest: %w", err)
		}
		found, err := decodeManifests(data)
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", file, err)
		}
		objects = append(objects, found...)
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("there is no manifest in %s", dir)
	}
	return objects, nil
}

func decodeManifests(data []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		obj := &unstructured.Unstructured{}
		err := decoder.Decode(&obj.Object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case len(obj.Object) == 0 || obj.GetKind() == "Kustomization":
			continue
		case obj.GetKind() == "" || obj.GetName() == "":
			return nil, errors.New("an object without kind or metadata.name")
		}
		objects = append(objects, obj)
	}
}
