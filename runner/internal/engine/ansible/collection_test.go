package ansible

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// modules are those of the collection.
var modules = []string{"k8s_event", "k8s_status", "osdk_metric", "requeue_after"}

// TestCollectionIsAccepted asks Ansible's own programs about the collection.
func TestCollectionIsAccepted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ask := func(program string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env = append(os.Environ(), "ANSIBLE_COLLECTIONS_PATH="+b.workspace.collectionsDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", program, err, out)
		}
		return string(out)
	}
	if out := ask("ansible-galaxy", "collection", "list", "operator_sdk.util"); !strings.Contains(out, "operator_sdk.util 0.5.0") {
		t.Errorf("ansible-galaxy lists\n%s", out)
	}
	for _, module := range modules {
		out := ask("ansible-doc", "operator_sdk.util."+module)
		for _, part := range []string{"OPTIONS", "EXAMPLES:", "RETURN VALUES:"} {
			if !strings.Contains(out, part) {
				t.Errorf("ansible-doc of %s has no %s\n%s", module, part, out)
			}
		}
	}
}

// TestCollectionPageListsEveryParameter compares the manual with what the modules say, but for the client's parameters, which
// the page has in a section of their own.
func TestCollectionPageListsEveryParameter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	page, err := os.ReadFile("../../../../docs/collection.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range modules {
		cmd := exec.CommandContext(t.Context(), "ansible-doc", "--json", "operator_sdk.util."+module)
		cmd.Env = append(os.Environ(), "ANSIBLE_COLLECTIONS_PATH="+b.workspace.collectionsDir())
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var docs map[string]struct {
			Doc struct{ Options map[string]any }
		}
		if err := json.Unmarshal(out, &docs); err != nil {
			t.Fatal(err)
		}
		_, section, _ := strings.Cut(string(page), "\n## "+module+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		for option := range docs["operator_sdk.util."+module].Doc.Options {
			if !strings.Contains(section, "`"+option+"`") && !strings.Contains(clientSection(string(page)), "`"+option+"`") {
				t.Errorf("docs/collection.md does not have the parameter %s of %s", option, module)
			}
		}
	}
}

// clientSection is what the page says about the client of the API server.
func clientSection(page string) string {
	_, section, _ := strings.Cut(page, "\n## Reaching the API server\n")
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// TestCollectionOfTheImageWins gives the image a collection of the same name: all of it counts and nothing of ours.
func TestCollectionOfTheImageWins(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("image/ansible_collections/operator_sdk/util/plugins/action/k8s_status.py", `
from ansible.plugins.action import ActionBase
class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        return dict(changed=False, msg="of the image")
`)
	b.file("image/ansible_collections/operator_sdk/util/plugins/modules/k8s_status.py", "")
	b.configure = func(cfg *Config) { cfg.CollectionsPath = b.content + "/image" }
	got := b.run(b.play(`
- operator_sdk.util.k8s_status:
  register: answer
- set_stats: {data: {said: "{{ answer.msg }}"}}`), newJob())
	if got.Outcome != engine.Succeeded || got.Outputs["said"] != "of the image" {
		t.Errorf("result is %+v", got)
	}
	got = b.run(b.play("- operator_sdk.util.osdk_metric: {name: a, description: b, counter: {}}"), newJob())
	if !strings.Contains(got.Message, "couldn't resolve module/action") {
		t.Errorf("a module that only ours has: result is %+v", got)
	}
}

// TestWithoutKubernetesClient is AO 7.4: the old k8s_event ended with a NameError.
// Covers AO 9.4 failures.
func TestWithoutKubernetesClient(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("without/kubernetes/__init__.py", "raise ImportError('there is none')\n")
	b.configure = func(cfg *Config) {
		cfg.Environ = func() []string { return append(os.Environ(), "PYTHONPATH="+b.content+"/without") }
	}
	for _, task := range []string{
		"operator_sdk.util.k8s_status: {kind: Thing, name: a}",
		"operator_sdk.util.k8s_event: {name: a, namespace: b, message: c, reason: D}",
	} {
		got := b.run(b.play("- "+task), newJob())
		if !strings.Contains(got.Message, "Failed to import the required Python library (kubernetes)") {
			t.Errorf("%s: result is %+v", task, got)
		}
	}
}

// TestCollectionOnACluster re-creates the cases of the collection's own tests (AO 9.4) on a real API server.
func TestCollectionOnACluster(t *testing.T) {
	t.Parallel()
	config := testkit.Cluster(t)
	gvk := schema.GroupVersionKind{Group: "collection.example.com", Version: "v1", Kind: "Thing"}
	testkit.InstallCRD(t, config, gvk)
	bare := schema.GroupVersionKind{Group: "collection.example.com", Version: "v1", Kind: "Bare"}
	testkit.InstallCRD(t, config, bare, testkit.WithoutStatus)
	c := testkit.Client(t, config)
	namespace := testkit.Namespace(t, c)
	for _, obj := range []schema.GroupVersionKind{gvk, bare} {
		if err := c.Create(t.Context(), testkit.Object(obj, namespace, "one", map[string]any{})); err != nil {
			t.Fatal(err)
		}
	}
	kubeconfig, err := os.ReadFile(testkit.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, play := range []string{"status", "refusals", "events"} {
		t.Run(play, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			text, err := os.ReadFile(filepath.Join("testdata", "collection", play+".yml"))
			if err != nil {
				t.Fatal(err)
			}
			job := newJob()
			job.Kubeconfig = kubeconfig
			job.Inputs = map[string]any{"ns": namespace}
			if got := b.run(b.playbook(string(text)), job); !got.Outcome.OK() {
				t.Errorf("result is %+v", got)
			}
		})
	}
}
