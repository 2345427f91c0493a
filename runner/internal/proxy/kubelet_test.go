package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	clientspdy "k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kubelet is as much of a kubelet as the API server needs for exec, attach, logs and port-forward. Commands in its
// containers run for real, in a directory of their own; who attaches is sent back what it says, and so is who is
// forwarded.
type kubelet struct {
	lines chan string // of the log; closed at its end
	dir   string      // where commands run
}

// newKubeletPod makes a Pod on a node whose kubelet is k.
func newKubeletPod(t *testing.T, s *realStage, k *kubelet) *corev1.Pod {
	t.Helper()
	mux := http.NewServeMux()
	if k.dir == "" {
		k.dir = t.TempDir()
	}
	mux.HandleFunc("/exec/", k.exec)
	mux.HandleFunc("/attach/", k.attach)
	mux.HandleFunc("/portForward/", k.forward)
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
	serveStreams(w, r, func(stdin io.Reader, stdout, stderr io.Writer) error { //nolint:contextcheck // that of the request
		command := r.URL.Query()["command"]
		cmd := exec.CommandContext(r.Context(), command[0], command[1:]...)
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = k.dir, stdin, stdout, stderr
		return cmd.Run()
	})
}

func (k *kubelet) attach(w http.ResponseWriter, r *http.Request) {
	serveStreams(w, r, func(stdin io.Reader, stdout, _ io.Writer) error {
		_, err := io.Copy(stdout, stdin)
		return err
	})
}

// serveStreams answers by SPDY or websocket, as it is asked.
func serveStreams(w http.ResponseWriter, r *http.Request, serve func(stdin io.Reader, stdout, stderr io.Writer) error) {
	var streams map[string]io.ReadWriteCloser
	var conn io.Closer
	var ended <-chan bool
	if wsstream.IsWebSocketRequest(r) {
		streams, conn = websocketStreams(w, r)
	} else {
		streams, conn, ended = spdyStreams(w, r)
	}
	if conn == nil {
		return
	}
	defer conn.Close()
	nothing := struct {
		io.Reader
		io.Writer
	}{strings.NewReader(""), io.Discard}
	stdin, stdout, stderr := io.Reader(nothing), io.Writer(nothing), io.Writer(nothing)
	if s := streams[corev1.StreamTypeStdin]; s != nil {
		stdin = s
	}
	if s := streams[corev1.StreamTypeStdout]; s != nil {
		stdout = s
	}
	if s := streams[corev1.StreamTypeStderr]; s != nil {
		stderr = s
	}
	status := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`
	if err := serve(stdin, stdout, stderr); err != nil {
		status = fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q}`, err)
	}
	fmt.Fprint(streams[corev1.StreamTypeError], status)
	for _, s := range streams {
		_ = s.Close()
	}
	if ended != nil {
		<-ended
	}
}

func websocketStreams(w http.ResponseWriter, r *http.Request) (map[string]io.ReadWriteCloser, io.Closer) {
	names := []string{corev1.StreamTypeStdin, corev1.StreamTypeStdout, corev1.StreamTypeStderr}
	kinds := []wsstream.ChannelType{wsstream.ReadChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.ReadChannel}
	for i, name := range names {
		if !asked(r, name) {
			kinds[i] = wsstream.IgnoreChannel
		}
	}
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{"v4.channel.k8s.io": {Binary: true, Channels: kinds}})
	_, channels, err := conn.Open(w, r)
	if err != nil {
		return nil, nil
	}
	streams := map[string]io.ReadWriteCloser{corev1.StreamTypeError: channels[3]}
	for i, name := range names {
		if asked(r, name) {
			streams[name] = channels[i]
		}
	}
	return streams, conn
}

// asked reports whether a stream was asked for; kubelets are asked in other words than API servers.
func asked(r *http.Request, stream string) bool {
	short := map[string]string{"stdin": "input", "stdout": "output", "stderr": "error"}[stream]
	return r.URL.Query().Has(stream) || r.URL.Query().Has(short)
}

func spdyStreams(w http.ResponseWriter, r *http.Request) (map[string]io.ReadWriteCloser, io.Closer, <-chan bool) {
	if _, err := httpstream.Handshake(r, w, []string{"v4.channel.k8s.io"}); err != nil {
		return nil, nil, nil
	}
	opened := make(chan httpstream.Stream, 4)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		opened <- s
		return nil
	})
	if conn == nil {
		return nil, nil, nil
	}
	streams := map[string]io.ReadWriteCloser{}
	want := 1
	for _, name := range []string{corev1.StreamTypeStdin, corev1.StreamTypeStdout, corev1.StreamTypeStderr} {
		if asked(r, name) {
			want++
		}
	}
	for len(streams) < want {
		select {
		case s := <-opened:
			streams[s.Headers().Get(corev1.StreamType)] = s
		case <-conn.CloseChan():
			return nil, nil, nil
		}
	}
	return streams, conn, conn.CloseChan()
}

// forward sends back what comes, for each connection.
func (k *kubelet) forward(w http.ResponseWriter, r *http.Request) {
	if _, err := httpstream.Handshake(r, w, []string{"portforward.k8s.io"}); err != nil {
		return
	}
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		go func() {
			if s.Headers().Get(corev1.StreamType) == corev1.StreamTypeData {
				_, _ = io.Copy(s, s)
			}
			_ = s.Close()
		}()
		return nil
	})
	if conn == nil {
		return
	}
	defer conn.Close()
	<-conn.CloseChan()
}

func (k *kubelet) log(w http.ResponseWriter, _ *http.Request) {
	w.(http.Flusher).Flush()
	for line := range k.lines {
		fmt.Fprintln(w, line)
		w.(http.Flusher).Flush()
	}
}

// TestExecAndAttach runs a command in a Pod, and attaches to one: client-go, the proxy, a real API server, a kubelet (C6).
// Covers AO 9.3 SubresourcesTest.
func TestExecAndAttach(t *testing.T) {
	s := newRealStage(t)
	pod := newKubeletPod(t, s, &kubelet{})
	config := through(t, s.open(t, s.app(t, "x")))
	clients := must(kubernetes.NewForConfig(config))
	post := func() *rest.Request {
		return clients.CoreV1().RESTClient().Post().Namespace(s.namespace).Resource("pods").Name(pod.Name)
	}
	cat := &corev1.PodExecOptions{Command: []string{"cat"}, Stdin: true, Stdout: true}
	for verb, url := range map[string]*url.URL{
		"exec":   post().SubResource("exec").VersionedParams(cat, scheme.ParameterCodec).URL(),
		"attach": post().SubResource("attach").VersionedParams(&corev1.PodAttachOptions{Stdin: true, Stdout: true}, scheme.ParameterCodec).URL(),
	} {
		t.Run(verb, func(t *testing.T) { talk(t, config, url) })
	}
}

// talk says something by an address that says it back.
func talk(t *testing.T, config *rest.Config, url *url.URL) {
	t.Helper()
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

// running says in the kubelet's name that a Pod runs.
func (s *realStage) running(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`))
	if err := s.admin.Status().Patch(t.Context(), pod, patch); err != nil {
		t.Fatal(err)
	}
}

// TestPortForward forwards a port of a Pod both ways that clients know (C6: the old tool knew none).
func TestPortForward(t *testing.T) {
	s := newRealStage(t)
	pod := newKubeletPod(t, s, &kubelet{})
	s.running(t, pod)
	config := through(t, s.open(t, s.app(t, "x")))
	clients := must(kubernetes.NewForConfig(config))
	url := clients.CoreV1().RESTClient().Post().Namespace(s.namespace).Resource("pods").Name(pod.Name).SubResource("portforward").URL()
	roundTripper, upgrader, err := clientspdy.RoundTripperFor(config)
	if err != nil {
		t.Fatal(err)
	}
	for name, dialer := range map[string]httpstream.Dialer{
		"SPDY":      clientspdy.NewDialerForStreaming(upgrader, &http.Client{Transport: roundTripper}, http.MethodPost, url),
		"websocket": must(portforward.NewSPDYOverWebsocketDialerForStreaming(url, config)),
	} {
		t.Run(name, func(t *testing.T) {
			stop, ready := make(chan struct{}), make(chan struct{})
			forwarder := must(portforward.NewForStreaming(dialer, []string{"0:80"}, stop, ready, io.Discard, io.Discard))
			ended := make(chan error, 1)
			go func() { ended <- forwarder.ForwardPorts() }()
			select {
			case <-ready:
			case err := <-ended:
				t.Fatalf("port-forward: %v", err)
			}
			port := must(forwarder.GetPorts())[0].Local
			conn := must(net.Dial("tcp", fmt.Sprint("127.0.0.1:", port)))
			in := bufio.NewReader(conn)
			for _, line := range []string{"one\n", "two\n"} {
				fmt.Fprint(conn, line)
				if got, err := in.ReadString('\n'); err != nil || got != line {
					t.Errorf("read %q (%v), want %q", got, err, line)
				}
			}
			_ = conn.Close()
			close(stop)
			if err := <-ended; err != nil {
				t.Errorf("port-forward ends with %v", err)
			}
		})
	}
}
