package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/chartbook-operator/chartbook/runner"
)

// benchFlags are those of commands that work on single resources.
type benchFlags struct {
	options    runner.Options
	files      []string
	namespace  string
	kubeconfig string
	context    string
}

func (f *benchFlags) bind(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "file with the resource, - for standard input; may be repeated")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace of a resource that names none; empty means that of the kubeconfig's context")
	flags.StringVar(&f.options.WatchesFile, "watches-file", f.options.WatchesFile, "path of watches.yaml")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "path of a kubeconfig; without it, the one of KUBECONFIG, the pod's service account, or ~/.kube/config")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig; empty means its current one")
	flags.StringVar(&f.options.ChartCache, "chart-cache", "", "directory for charts of registries; empty for one below the system's temporary directory")
}

// resources reads the files.
func (f *benchFlags) resources(cmd *cobra.Command) ([]*unstructured.Unstructured, error) {
	if len(f.files) == 0 {
		return nil, usagef("-f is missing: the file with the resource, or - for standard input; %s", seeHelp(cmd))
	}
	var all []*unstructured.Unstructured
	for _, name := range f.files {
		data, err := readInput(cmd, name)
		if err != nil {
			return nil, &usageError{err}
		}
		found, err := decode(data)
		if err != nil {
			return nil, usagef("%s: %w", name, err)
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, usagef("there is no resource in %v", f.files)
	}
	return all, nil
}

func readInput(cmd *cobra.Command, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(cmd.InOrStdin())
	}
	return os.ReadFile(name)
}

var errNoName = errors.New("a resource has apiVersion, kind and metadata.name")

// decode reads the documents of a file, YAML or JSON.
func decode(data []byte) ([]*unstructured.Unstructured, error) {
	reader := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	var all []*unstructured.Unstructured
	for {
		obj := &unstructured.Unstructured{}
		err := reader.Decode(&obj.Object)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("read a resource: %w", err)
		case len(obj.Object) == 0:
			continue
		case obj.GetKind() == "" || obj.GetAPIVersion() == "" || obj.GetName() == "":
			return nil, errNoName
		}
		all = append(all, obj)
	}
}

// open opens the workbench. Without a cluster it is nil in the options.
func (f *benchFlags) open(offline bool) (*runner.Workbench, error) {
	if !offline {
		config, err := loadConfig(f.kubeconfig, f.context)
		if err != nil {
			return nil, err
		}
		f.options.RESTConfig = config
	}
	if f.namespace == "" {
		f.namespace = contextNamespace(f.kubeconfig, f.context)
	}
	bench, err := runner.OpenWorkbench(f.options)
	return bench, invalid(err)
}

// invalid makes a usage error of what the runner calls invalid.
func invalid(err error) error {
	if _, wrong := errors.AsType[*runner.InvalidError](err); wrong {
		return &usageError{err}
	}
	return err
}
