package helm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v3/pkg/chart"
)

// schemaTimeout bounds the fetching of a schema that another one refers to, as in Helm.
const schemaTimeout = 15 * time.Second

// checkSchemas checks values against the schemas of a chart and of its dependencies, as Helm does; only that references
// like file://./schemas/pod.json are relative to the working directory, as they were before Helm 3.18. The error lists
// what is wrong in Helm's words, chart by chart.
func checkSchemas(c *chart.Chart, values map[string]any) error {
	var problems strings.Builder
	if c.Schema != nil {
		if err := checkSchema(c.Schema, values); err != nil {
			fmt.Fprintf(&problems, "%s:\n%s\n", c.Name(), err)
		}
	}
	for _, dependency := range c.Dependencies() {
		own, ok := values[dependency.Name()].(map[string]any)
		if !ok {
			continue // disabled, or Helm itself says that it is no mapping
		}
		if err := checkSchemas(dependency, own); err != nil {
			problems.WriteString(err.Error())
		}
	}
	if problems.Len() > 0 {
		return errors.New(problems.String())
	}
	return nil
}

// schemaURL is what the chart's own schema is called.
const schemaURL = "file:///values.schema.json"

func checkSchema(text []byte, values map[string]any) (err error) {
	defer func() { // the library panics on values that are no JSON
		if r := recover(); r != nil {
			err = fmt.Errorf("the values cannot be checked: %v", r)
		}
	}()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	web := remoteSchemas{&http.Client{Timeout: schemaTimeout}}
	compiler.UseLoader(jsonschema.SchemeURLLoader{"file": localSchemas{}, "http": web, "https": web})
	if err := compiler.AddResource(schemaURL, document); err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	schema, err := compiler.Compile(schemaURL)
	if err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	if err := schema.Validate(values); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "jsonschema validation failed with '"+schemaURL+"#'\n"))
	}
	return nil
}

// localSchemas loads schemas from files. A URL with a host, which a file cannot have, is one that was meant to be
// relative.
type localSchemas struct{}

// Load implements jsonschema.URLLoader.
func (localSchemas) Load(text string) (any, error) {
	address, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	path := address.Path
	if address.Host != "" {
		path = filepath.Join(".", address.Host, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}

// remoteSchemas loads schemas from the web.
type remoteSchemas struct{ client *http.Client }

var errStatus = errors.New("the server does not give it")

// maxSchema bounds a schema from the web, in bytes.
const maxSchema = 16 << 20

// Load implements jsonschema.URLLoader.
func (s remoteSchemas) Load(address string) (any, error) {
	response, err := s.client.Get(address) //nolint:noctx // the library passes none on; the client has a timeout
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %w", address, response.Status, errStatus)
	}
	return jsonschema.UnmarshalJSON(io.LimitReader(response.Body, maxSchema))
}
