package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// errUnknownCommand is for pages that use what the shell of this test does not know.
var errUnknownCommand = errors.New("the test does not know this command; teach it or write the page otherwise")

// shell carries out the commands of the manual's pages: those few of kubectl and chartbook that the pages use. The
// namespace default stands for the test's own.
type shell struct{ *operator }

// do carries out a command that changes something and returns what it prints, without the line break at the end.
func (s shell) do(line string) (string, error) {
	args := words(line)
	for len(args) > 0 && strings.Contains(args[0], "=") { // assignments to variables
		args = args[1:]
	}
	switch strings.Join(args[:min(2, len(args))], " ") {
	case "chartbook validate":
		return s.validate()
	case "chartbook run":
		s.stop()
		s.start()
		return "", nil
	case "kubectl apply":
		return s.apply(args[3])
	case "kubectl patch":
		return s.patch(args[2:])
	case "kubectl delete":
		return "", s.remove(args[2], args[3])
	}
	if args[0] == "mkdir" {
		return "", nil // the test has a directory
	}
	return "", errUnknownCommand
}

// see carries out a command that looks at something, which may be repeated.
func (s shell) see(ctx context.Context, line string) (string, error) {
	switch args := words(line); args[1] {
	case "get":
		return s.show(ctx, args[2:])
	case "wait":
		return s.wait(ctx, args[2:])
	}
	return "", errUnknownCommand
}

// looks reports whether a command is one for see.
func looks(line string) bool {
	return strings.HasPrefix(line, "kubectl get ") || strings.HasPrefix(line, "kubectl wait ")
}

// contentPath finds the relative paths of a watches file: tests share a working directory.
var contentPath = regexp.MustCompile(`(?m)^(\s+(?:playbook|role|chart): )(\w)`)

// save writes a file of a page.
func (s shell) save(name, text string) error {
	if name == "watches.yaml" {
		text = contentPath.ReplaceAllString(text, "${1}"+s.dir+"/${2}")
	}
	text = strings.ReplaceAll(text, "namespace: default", "namespace: "+s.namespace)
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

func (s shell) validate() (string, error) {
	report := runner.Validate(s.t.Context(), runner.ValidateOptions{WatchesFile: filepath.Join(s.dir, "watches.yaml"), Strict: true})
	if len(report.Problems) > 0 {
		return "", errors.New(strings.Join(report.Problems, "\n"))
	}
	return fmt.Sprintf("./watches.yaml: %d watch, %d warnings", report.Watches, len(report.Warnings)), nil
}

func (s shell) apply(file string) (string, error) {
	data, err := os.ReadFile(filepath.Join(s.dir, file))
	if err != nil {
		return "", err
	}
	var out []string
	for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
		obj := &unstructured.Unstructured{}
		if err := decoder.Decode(&obj.Object); errors.Is(err, io.EOF) {
			return strings.Join(out, "\n"), nil
		} else if err != nil {
			return "", fmt.Errorf("parse %s: %w", file, err)
		}
		mapping, err := s.mappingOf(obj.GroupVersionKind())
		if err != nil {
			return "", err
		}
		if err := s.bring(obj, mapping, filepath.Join(s.dir, file)); err != nil {
			return "", err
		}
		out = append(out, title(mapping, obj.GetName())+" created")
	}
}

// bring creates an object. CRDs are shared by all tests, so there may be one already, and it stays.
func (s shell) bring(obj *unstructured.Unstructured, mapping *meta.RESTMapping, file string) error {
	if obj.GetKind() == "CustomResourceDefinition" {
		testkit.InstallCRDs(s.t, s.config, file)
		return nil
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		obj.SetNamespace(s.namespace)
	}
	return s.client.Create(s.t.Context(), obj)
}

// mapper asks the API server anew each time, since pages install CRDs.
func (s shell) mapper() (meta.RESTMapper, error) {
	lister, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		return nil, err
	}
	resources, err := restmapper.GetAPIGroupResources(lister)
	if err != nil {
		return nil, err
	}
	return restmapper.NewDiscoveryRESTMapper(resources), nil
}

// mappingOf finds a kind.
func (s shell) mappingOf(gvk schema.GroupVersionKind) (*meta.RESTMapping, error) {
	mapper, err := s.mapper()
	if err != nil {
		return nil, err
	}
	return mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
}

// mapping finds a kind by its name or by that of its resource. Other tests have CRDs in the same control plane, whose
// groups end otherwise, so kinds of the pages' own groups and built-in ones come first.
func (s shell) mapping(name string) (*meta.RESTMapping, error) {
	mapper, err := s.mapper()
	if err != nil {
		return nil, err
	}
	kinds, err := mapper.KindsFor(schema.GroupVersionResource{Resource: strings.ToLower(name)})
	if err != nil {
		return nil, err
	}
	for _, gvk := range kinds {
		if slices.Contains(pageGroups, gvk.Group) {
			return mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		}
	}
	return mapper.RESTMapping(kinds[0].GroupKind(), kinds[0].Version)
}

// pageGroups are the groups of the kinds that the pages define.
var pageGroups = []string{"example.com", "web.example.com"}

// title names an object as kubectl does.
func title(mapping *meta.RESTMapping, name string) string {
	resource := strings.ToLower(mapping.GroupVersionKind.Kind)
	if mapping.Resource.Group != "" {
		resource += "." + mapping.Resource.Group
	}
	return resource + "/" + name
}
