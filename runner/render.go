package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/engine/helm"
)

// RenderOptions are the settings of [Workbench.Render].
type RenderOptions struct {
	// Output is what to render: vars, values, manifests, plan or diff.
	Output string
	// Namespace is that of a resource which names none.
	Namespace string
	// ShowSecrets leaves in what else is replaced: what comes from Secrets, and what Secrets of a chart hold.
	ShowSecrets bool
}

// Outputs are what [Workbench.Render] can render.
var Outputs = []string{"vars", "values", "manifests", "plan", "diff"}

var errWrongContent = errors.New("is not for")

// Render returns what a run of obj would get or do. It changes nothing. An [InvalidError] says that the resource or the
// options are wrong.
func (b *Workbench) Render(ctx context.Context, obj *unstructured.Unstructured, o RenderOptions) (string, error) {
	p, err := b.put(ctx, obj, o.Namespace)
	if err != nil {
		return "", err
	}
	if (o.Output == "vars") != (p.watch.Chart == "") {
		content := map[bool]string{true: "a chart", false: "a playbook or role"}[p.watch.Chart != ""]
		return "", &InvalidError{fmt.Errorf("-o %s %w %s, which %s runs", o.Output, errWrongContent, content, obj.GetKind())}
	}
	job, err := b.job(ctx, p)
	if err != nil {
		return "", err
	}
	text, err := b.render(ctx, p, job, o)
	if !o.ShowSecrets {
		text = p.secrets.String(text)
	}
	return text, err
}

func (b *Workbench) render(ctx context.Context, p *piece, job engine.Job, o RenderOptions) (string, error) {
	if o.Output == "vars" {
		return asYAML(job.Inputs)
	}
	if o.Output == "manifests" && b.client == nil {
		return b.template(p, job, o.ShowSecrets)
	}
	if o.Output != "values" && b.client == nil {
		return "", &InvalidError{fmt.Errorf("-o %s: %w", o.Output, errOffline)}
	}
	e, err := b.chart(p)
	if err != nil {
		return "", err
	}
	switch o.Output {
	case "values":
		values, err := e.Values(ctx, job)
		if err != nil {
			return "", err
		}
		return asYAML(values)
	case "manifests":
		text, err := e.Render(ctx, job)
		if err == nil && !o.ShowSecrets {
			text = helm.HideSecrets(text)
		}
		return text, err
	}
	return previewText(ctx, e, job, o.Output)
}

// previewText shows what a run of the job would do: as a plan or as a diff.
func previewText(ctx context.Context, e *helm.Engine, job engine.Job, output string) (string, error) {
	preview, err := e.Preview(ctx, job)
	if err != nil {
		return "", err
	}
	if output == "diff" {
		return diffText(preview), nil
	}
	return planText(preview), nil
}

// template renders a chart without a cluster.
func (b *Workbench) template(p *piece, job engine.Job, showSecrets bool) (string, error) {
	namespace := job.Owner.Namespace
	if !p.watch.ReleaseNamespace.IsZero() {
		var err error
		if namespace, err = releaseNamespace(p.watch.ReleaseNamespace, job.Owner); err != nil {
			return "", &InvalidError{err}
		}
	}
	if p.watch.InRegistry() {
		return "", &InvalidError{fmt.Errorf("a chart of a registry: %w", errOffline)}
	}
	text, err := helm.Template(p.watch.Chart, job.Owner.Name, namespace, job.Inputs)
	if err == nil && !showSecrets {
		text = helm.HideSecrets(text)
	}
	return text, err
}

func asYAML(values map[string]any) (string, error) {
	text, err := yaml.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("write the inputs as YAML: %w", err)
	}
	return string(text), nil
}

// planText says in words what a run would do.
func planText(p helm.Preview) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s release %s in namespace %s", p.Action, p.Release, p.Namespace)
	if p.Action == string(engine.ActionInstall) || p.Action == string(engine.ActionUpgrade) {
		fmt.Fprintf(&out, ", revision %d", p.Revision)
	}
	if p.Why != "" {
		fmt.Fprintf(&out, ": %s", p.Why)
	}
	out.WriteString("\n")
	for _, change := range p.Objects {
		fmt.Fprintf(&out, "  %-9s %s", change.Verb, nameOf(change.Child))
		if len(change.Fields) > 0 {
			fmt.Fprintf(&out, ": %s", strings.Join(change.Fields, ", "))
		}
		out.WriteString("\n")
	}
	return out.String()
}

// diffText shows how objects would change. Of what is only put back, the fields are named: what the cluster has there
// may be secret.
func diffText(p helm.Preview) string {
	var out strings.Builder
	for _, change := range p.Objects {
		name := nameOf(change.Child)
		if change.Before == "" && change.After == "" {
			fmt.Fprintf(&out, "# %s would be %s%s\n", name, map[string]string{"create": "created", "put back": "put back"}[change.Verb], list(change.Fields))
			continue
		}
		if change.Verb == "keep" {
			fmt.Fprintf(&out, "# %s would be kept, though the chart has it no more\n", name)
			continue
		}
		text := diff.Diff("a/"+name, []byte(change.Before), "b/"+name, []byte(change.After))
		if _, hunks, found := strings.Cut(string(text), "\n"); found { // without the line that repeats the command
			out.WriteString(hunks)
		}
	}
	return out.String()
}

func list(fields []string) string {
	if len(fields) == 0 {
		return ""
	}
	return ": " + strings.Join(fields, ", ")
}

// nameOf names an object: ConfigMap/web, or ConfigMap/other/web with its namespace.
func nameOf(child engine.Child) string {
	if child.Namespace == "" {
		return child.GVK.Kind + "/" + child.Name
	}
	return child.GVK.Kind + "/" + child.Namespace + "/" + child.Name
}
