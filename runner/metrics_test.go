package runner_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/chartbook-operator/chartbook/runner"
	"github.com/chartbook-operator/chartbook/runner/internal/testkit"
)

// Metrics are served by HTTPS to those who may read them (AO 9.2); the old tool gave them to everybody unless two flags
// were set (AO 10.5). The shipped ClusterRole is what lets somebody read.
func TestMetricsAreForThoseWhoMayReadThem(t *testing.T) {
	t.Parallel()
	gvk := kindFor(t)
	o := setup(t, testkit.Cluster(t), map[string]string{"watches.yaml": watchesFor(gvk, ""), "play.yml": idlePlay})
	address := freeAddress(t)
	o.start(func(options *runner.Options) {
		options.Registerer = nil // the metrics server's own
		options.Metrics = runner.DefaultOptions(runner.Chartbook).Metrics
		options.Metrics.Address, options.Metrics.UserAddress = address, "0"
	})
	o.create(gvk, "thing", nil)
	o.eventually(gvk, "thing", ready)

	stranger, reader := o.serviceAccount().BearerToken, o.metricsReader()
	want := func(code int, token, text string) {
		t.Helper()
		testkit.Eventually(t, soon, func(ctx context.Context) error {
			got, body, err := scrape(ctx, "https://"+address+"/metrics", token)
			if err == nil && (got != code || !strings.Contains(body, text)) {
				err = fmt.Errorf("status %d, want %d and %s in\n%s", got, code, text, body)
			}
			return err
		})
	}
	want(http.StatusUnauthorized, "", "")
	want(http.StatusForbidden, stranger, "")
	want(http.StatusOK, reader, fmt.Sprintf(`resource_created_at_seconds{group=%q,kind="Thing",name="thing",namespace=%q,version="v1"}`, gvk.Group, o.namespace))
}

// metricsReader returns the token of a ServiceAccount with the shipped role of readers, under a name of its own.
func (o *operator) metricsReader() string {
	o.t.Helper()
	role := testkit.ReadYAML(o.t, filepath.Join(testkit.RepoRoot(), "deploy", "rbac", "metrics_reader_role.yaml"))
	role.SetName(o.namespace + "-metrics-reader")
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "reader"}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.GetName()},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.GetName()},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: o.namespace, Name: account.Name}},
	}
	for _, obj := range []client.Object{account, role, binding} {
		if err := o.client.Create(o.t.Context(), obj); err != nil {
			o.t.Fatal(err)
		}
		o.t.Cleanup(func() { _ = o.client.Delete(context.Background(), obj) })
	}
	accounts := kubernetes.NewForConfigOrDie(o.config).CoreV1().ServiceAccounts(o.namespace)
	token, err := accounts.CreateToken(o.t.Context(), account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		o.t.Fatal(err)
	}
	return token.Status.Token
}

// scrape reads what a server with a certificate of its own making serves.
func scrape(ctx context.Context, url, token string) (code int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}
