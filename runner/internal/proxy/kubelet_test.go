package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// kubelet is as much of a kubelet as the API server needs for exec and logs. What is run in its containers is cat.
type kubelet struct {
	lines chan string // of the log; closed at its end
}

// newKubeletPod makes a Pod on a node whose kubelet is k.
func newKubeletPod(t *testing.T, s *realStage, k *kubelet) *corev1.Pod {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/exec/", k.exec)
	mux.HandleFunc("/containerLogs/", k.log)
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "kubelet-" + s.namespace}}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(must(strconv.Atoi(port)))
	// The control plane's stand-in for kubelets sets up all nodes that are not ready, addresses included.
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if err := s.admin.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	s.cleanUp(t, node)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "p"},
		Spec:       corev1.PodSpec{NodeName: node.Name, Containers: []corev1.Container{{Name: "c", Image: "example.invalid/none"}}},
	}
	if err := s.admin.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func (k *kubelet) exec(w http.ResponseWriter, r *http.Request) {
	if _, err := httpstream.Handshake(r, w, []string{"v4.channel.k8s.io"}); err != nil {
		return
	}
	opened := make(chan httpstream.Stream, 3)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		opened <- s
		return nil
	})
	if conn == nil {
		return
	}
	defer conn.Close()
	streams := map[string]httpstream.Stream{}
	for len(streams) < 3 {
		s := <-opened
		streams[s.Headers().Get(corev1.StreamType)] = s
	}
	_, _ = io.Copy(streams[corev1.StreamTypeStdout], streams[corev1.StreamTypeStdin])
	_ = streams[corev1.StreamTypeStdout].Close()
	fmt.Fprint(streams[corev1.StreamTypeError], `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
	_ = streams[corev1.StreamTypeError].Close()
	<-conn.CloseChan()
}

func (k *kubelet) log(w http.ResponseWriter, _ *http.Request) {
	w.(http.Flusher).Flush()
	for line := range k.lines {
		fmt.Fprintln(w, line)
		w.(http.Flusher).Flush()
	}
}

// TestExec runs a command in a Pod: client-go, the proxy, a real API server, a kubelet (C6).
func TestExec(t *testing.T) {
	s := newRealStage(t)
	pod := newKubeletPod(t, s, &kubelet{})
	config := through(t, s.open(t, s.app(t, "x")))
	clients := must(kubernetes.NewForConfig(config))
	url := clients.CoreV1().RESTClient().Post().Namespace(s.namespace).Resource("pods").Name(pod.Name).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Command: []string{"cat"}, Stdin: true, Stdout: true}, scheme.ParameterCodec).URL()
	for name, newExecutor := range map[string]func(*rest.Config) (remotecommand.Executor, error){
		"SPDY": func(c *rest.Config) (remotecommand.Executor, error) {
			return remotecommand.NewSPDYExecutor(c, http.MethodPost, url)
		},
		"websocket": func(c *rest.Config) (remotecommand.Executor, error) {
			return remotecommand.NewWebSocketExecutor(c, http.MethodGet, url.String())
		},
	} {
		t.Run(name, func(t *testing.T) {
			executor, err := newExecutor(config)
			if err != nil {
				t.Fatal(err)
			}
			toPod, stdin := io.Pipe()
			stdout, fromPod := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				err := executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdin: toPod, Stdout: fromPod})
				_ = toPod.CloseWithError(err) // so that nobody waits for what will not come
				_ = fromPod.CloseWithError(err)
				ended <- err
			}()
			out := bufio.NewReader(stdout)
			for _, line := range []string{"one\n", "two\n"} { // one after the other: nothing is held back
				fmt.Fprint(stdin, line)
				if got, err := out.ReadString('\n'); err != nil || got != line {
					t.Fatalf("read %q (%v), want %q", got, err, line)
				}
			}
			_ = stdin.Close()
			if err := <-ended; err != nil {
				t.Errorf("exec: %v", err)
			}
		})
	}
}

// TestLogIsFollowed reads a log while it is written (C7).
func TestLogIsFollowed(t *testing.T) {
	s := newRealStage(t)
	k := &kubelet{lines: make(chan string)}
	pod := newKubeletPod(t, s, k)
	clients := must(kubernetes.NewForConfig(through(t, s.open(t, s.app(t, "x")))))
	stream, err := clients.CoreV1().Pods(s.namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Follow: true}).Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	log := bufio.NewReader(stream)
	for _, line := range []string{"one", "two"} {
		k.lines <- line
		if got, err := log.ReadString('\n'); err != nil || got != line+"\n" {
			t.Fatalf("read %q (%v), want %q", got, err, line)
		}
	}
	close(k.lines)
	if rest, err := io.ReadAll(log); err != nil || len(rest) != 0 {
		t.Errorf("the log goes on with %q (%v), want its end", rest, err)
	}
}
