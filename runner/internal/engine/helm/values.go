package helm

import (
	"fmt"
	"regexp"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
)

// checkValues says what is wrong with the values before Helm is asked to use them, so that this is told apart from
// all else that can fail. Chart and values are changed by it.
func checkValues(c *chart.Chart, values map[string]any) error {
	if err := chartutil.ProcessDependenciesWithMerge(c, values); err != nil {
		return fmt.Errorf("values do not go with the chart's dependencies: %w", err)
	}
	all, err := chartutil.CoalesceValues(c, values)
	if err != nil {
		return fmt.Errorf("values do not go with the chart's defaults: %w", err)
	}
	if err := checkSchemas(c, all); err != nil {
		return schemaError{text: err.Error()}
	}
	return nil
}

// missingDependencies returns the charts that are needed and not there. c is a chart whose dependencies were
// processed, so that those which the values disable are no longer named.
func missingDependencies(c *chart.Chart) []string {
	have := map[string]bool{}
	for _, dependency := range c.Dependencies() {
		have[dependency.Name()] = true
	}
	var missing []string
	for _, dependency := range c.Metadata.Dependencies {
		if !have[dependency.Name] {
			missing = append(missing, dependency.Name)
		}
	}
	return missing
}

// schemaError says which values do not fit a chart's schema.
type schemaError struct{ text string }

// quotedValue matches where the schema checker quotes a value instead of a rule.
var quotedValue = regexp.MustCompile(`'(?:[^'\\]|\\.)*' (does not match pattern|is not valid)`)

// Error lists the fields, like '/replicas': got string, want integer. Values themselves are left out.
func (e schemaError) Error() string {
	text := quotedValue.ReplaceAllString(e.text, "value $1")
	var problems []string
	of := "" // the chart that the lines are about
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasSuffix(line, ":") && !strings.HasPrefix(line, "- "):
			of = "chart " + line + " "
		default:
			problems = append(problems, of+strings.TrimPrefix(line, "- at "))
			of = ""
		}
	}
	return "values do not fit the schema of " + strings.Join(problems, "; ")
}
