package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/chartbook-operator/chartbook/cmd/internal/child"
)

// storeLimit is how long requests that are being answered may take when the stand-in ends.
const storeLimit = 2 * time.Second

// storeServer serves a stand-in on loopback.
type storeServer struct {
	*store
	url      string
	listener net.Listener
	server   *http.Server
}

// startStore starts the stand-in for services outside the cluster.
func (d *demo) startStore(ctx context.Context) error {
	listener, err := listen(ctx)
	if err != nil {
		return fmt.Errorf("start the external store: %w", err)
	}
	d.store = serveStore(newStore(nil, time.Now), listener)
	d.undo.add("Stopping the external store", storeLimit, d.store.stop)
	return nil
}

// listen listens on a free port of loopback.
func listen(ctx context.Context) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", "127.0.0.1:0")
}

func serveStore(s *store, listener net.Listener) *storeServer {
	server := &http.Server{Handler: s.handler(), ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with stop
	return &storeServer{store: s, url: "http://" + listener.Addr().String(), listener: listener, server: server}
}

// stop ends the stand-in; requests that are being answered get their answer, unless ctx ends before.
func (s *storeServer) stop(ctx context.Context) error {
	if err := s.server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("stop the external store: %w", err), s.server.Close())
	}
	return nil
}

// handOver moves the stand-in, address and content, to a process that stays. Requests that come meanwhile wait in
// the socket, which is open all the time.
func (s *storeServer) handOver(ctx context.Context) (*child.Child, error) {
	tcp, ok := s.listener.(*net.TCPListener)
	if !ok {
		return nil, fmt.Errorf("hand over the external store: %T is no TCP socket", s.listener)
	}
	socket, err := tcp.File()
	if err != nil {
		return nil, fmt.Errorf("hand over the external store: %w", err)
	}
	defer func() { _ = socket.Close() }()
	if err := s.stop(ctx); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("hand over the external store: %w", err)
	}
	content, err := json.Marshal(s.snapshot())
	if err != nil {
		return nil, fmt.Errorf("hand over the external store: %w", err)
	}
	return startHeir(exec.Command(self, "store"), socket, content)
}

// startHeir starts a process with a socket as its fourth file, and content as its input.
func startHeir(cmd *exec.Cmd, socket *os.File, content []byte) (*child.Child, error) {
	input, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("hand over the external store: %w", err)
	}
	defer func() { _ = input.Close() }()
	cmd.Stdin, cmd.ExtraFiles = input, []*os.File{socket}
	heir, err := child.Start(cmd, true)
	if err != nil {
		_ = ours.Close()
		return nil, err
	}
	_, err = ours.Write(content)
	if err := errors.Join(err, ours.Close()); err != nil {
		return nil, fmt.Errorf("hand over the external store: %w", err)
	}
	return heir, nil
}

// newStoreCommand is the process that a kept demo leaves behind.
func newStoreCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "store",
		Short:  "Serve the external store of a kept demo",
		Args:   noArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return inheritStore(cmd.Context(), cmd.InOrStdin())
		},
	}
}

// inheritStore serves what handOver handed over, until ctx ends.
func inheritStore(ctx context.Context, content io.Reader) error {
	const socketFD = 3
	var objects map[string]string
	if err := json.NewDecoder(content).Decode(&objects); err != nil {
		return fmt.Errorf("take over the external store: %w", err)
	}
	socket := os.NewFile(socketFD, "socket")
	listener, err := net.FileListener(socket)
	if err != nil {
		return fmt.Errorf("take over the external store: %w", err)
	}
	_ = socket.Close()
	server := serveStore(newStore(objects, time.Now), listener)
	<-ctx.Done()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	return server.stop(ctx)
}
