package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/kube"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
)

// TestCluster goes through the life of a cluster. Its steps share one, because a start is what takes the time.
//
//nolint:tparallel // the steps build on each other; the test as a whole runs beside the others
func TestCluster(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	if output := c.up(t, "--nodes", "2"); !strings.Contains(output, c.dir.Path(layout.Kubeconfig)) {
		t.Errorf("up does not say how to use the cluster: %s", output)
	}
	for _, step := range []struct {
		name string
		run  func(*testing.T, cluster)
	}{
		{"the version is stamped", versionStamped},
		{"nodes are ready", nodesReady},
		{"files are private", filesPrivate},
		{"everything listens on loopback", loopbackOnly},
		{"up on a running cluster changes nothing", upAgain},
		{"status is good", statusGood},
		{"a deployment becomes available", deploymentAvailable},
		{"a job completes", jobCompletes},
		{"a job fails when told to", jobFails},
		{"a deployment stays unavailable when told to", deploymentStuck},
		{"a claim is bound", claimBound},
		{"a service account can log in", tokenWorks},
		{"RBAC refuses what is not allowed", rbacRefuses},
		{"a namespace goes away with all it holds", namespaceGoes},
		{"components come back", componentsComeBack},
		{"a taken port is named", portTaken},
		{"down leaves nothing", downLeavesNothing},
	} {
		if !t.Run(step.name, func(t *testing.T) { step.run(t, c) }) {
			return
		}
	}
}

func versionStamped(t *testing.T, c cluster) {
	var version struct{ GitVersion, Major, Minor string }
	if err := c.client(t).Get(t.Context(), "/version", &version); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("v%s.%s.", version.Major, version.Minor); version.Major != "1" || !strings.HasPrefix(version.GitVersion, want) {
		t.Errorf("the server calls itself %+v", version)
	}
	output, err := exec.Command(binary, "version").CombinedOutput()
	if err != nil || !strings.Contains(string(output), version.GitVersion+"\n") {
		t.Errorf("the server is %s, but the binary says:\n%s", version.GitVersion, output)
	}
}

func nodesReady(t *testing.T, c cluster) {
	if err := c.client(t).NodesReady(t.Context(), 2); err != nil {
		t.Error(err)
	}
}

func filesPrivate(t *testing.T, c cluster) {
	err := filepath.WalkDir(string(c.dir), func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // etcd renames files meanwhile
		}
		if err != nil {
			return err
		}
		if info, err := entry.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func upAgain(t *testing.T, c cluster) {
	before := c.status(t)
	if output := c.up(t); !strings.Contains(output, "up already") {
		t.Errorf("up says: %s", output)
	}
	if after := c.status(t); after.Supervisor != before.Supervisor {
		t.Error("up replaced the cluster")
	}
}

func statusGood(t *testing.T, c cluster) {
	output := c.must(t, "status")
	for _, name := range plan.Names() {
		if !strings.Contains(output, "\n"+name) {
			t.Errorf("status lacks %s:\n%s", name, output)
		}
	}
	if strings.Contains(output, "gone") {
		t.Errorf("something is gone:\n%s", output)
	}
}

func componentsComeBack(t *testing.T, c cluster) {
	before := c.status(t)
	for _, name := range plan.Names() {
		c.must(t, "restart", name)
	}
	after := c.status(t)
	for _, name := range plan.Names() {
		was, _ := before.Component(name)
		is, _ := after.Component(name)
		if is.ID == was.ID || is.Restarts != was.Restarts+1 {
			t.Errorf("%s was %+v and is %+v", name, was, is)
		}
	}
	if before.Server != after.Server {
		t.Errorf("the server moved from %s to %s", before.Server, after.Server)
	}
	// Data outlives the restarts, and the controllers work on.
	deploymentExists(t, c)
	create(t, c, "/apis/batch/v1/namespaces/default/jobs", job("after-restart"))
	eventually(t, condition(c, "/apis/batch/v1/namespaces/default/jobs/after-restart", "Complete"))
}

func portTaken(t *testing.T, c cluster) {
	port := c.status(t).Ports[plan.APIServer]
	other := newCluster(t)
	code, output := other.call(t, "up", "--port", strconv.Itoa(port))
	server, _ := c.status(t).Component(plan.APIServer)
	for _, want := range []string{fmt.Sprintf("port %d is taken", port), fmt.Sprintf("process %d ", server.PID), "--port"} {
		if code != 1 || !strings.Contains(output, want) {
			t.Errorf("exit code %d, and %q lacks %q", code, output, want)
		}
	}
	other.leavesNoProcess(t)
	other.leavesNoFile(t)
}

func downLeavesNothing(t *testing.T, c cluster) {
	c.must(t, "down")
	if left := c.processes(); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
	c.leavesNoFile(t)
	c.must(t, "down") // there is nothing to do, and that is no error
	if code, _ := c.call(t, "status"); code != 1 {
		t.Errorf("status of nothing: exit code %d", code)
	}
}

func rbacRefuses(t *testing.T, c cluster) {
	client := c.client(t).WithToken(token(t, c))
	if err := client.Get(t.Context(), "/api/v1/namespaces/default/secrets", nil); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("an account without rights got %v", err)
	}
}

func tokenWorks(t *testing.T, c cluster) {
	var review struct {
		Status struct{ UserInfo struct{ Username string } }
	}
	body := object{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
	client := c.client(t).WithToken(token(t, c))
	if err := client.Do(t.Context(), http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", body, &review); err != nil {
		t.Fatal(err)
	}
	if want := "system:serviceaccount:default:default"; review.Status.UserInfo.Username != want {
		t.Errorf("logged in as %q, want %q", review.Status.UserInfo.Username, want)
	}
}

func token(t *testing.T, c cluster) string {
	t.Helper()
	var request struct{ Status struct{ Token string } }
	body := object{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": object{}}
	path := "/api/v1/namespaces/default/serviceaccounts/default/token"
	if err := c.client(t).Do(t.Context(), http.MethodPost, path, body, &request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// condition checks that a condition of an object is true.
func condition(c cluster, path, kind string) func(context.Context) error {
	return func(ctx context.Context) error {
		client, err := kube.FromKubeconfig(c.dir.Path(layout.Kubeconfig))
		if err != nil {
			return err
		}
		var got struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if err := client.Get(ctx, path, &got); err != nil {
			return err
		}
		for _, have := range got.Status.Conditions {
			if have.Type == kind && have.Status == "True" {
				return nil
			}
		}
		return fmt.Errorf("%s is not %s: %+v", path, kind, got.Status.Conditions)
	}
}
