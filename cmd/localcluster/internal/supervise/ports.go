package supervise

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/plan"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/procs"
)

// ErrPortTaken says that something else listens on the port that was asked for.
var ErrPortTaken = errors.New("is taken")

// Reservation keeps a port for a component while the component is not there: before its start, and between two lives.
//
// The socket is bound with SO_REUSEPORT but never listens. The component binds the same port with the same option,
// which the kernel allows to processes of one user; anyone who binds without it is refused, and a client that connects
// in between is refused at once, as by any server that is down.
type Reservation struct {
	Port int
	fd   int
}

// Reserve takes a port on loopback; port 0 takes a free one.
func Reserve(ctx context.Context, port int) (*Reservation, error) {
	if port != 0 {
		if err := probe(ctx, port); err != nil {
			return nil, err
		}
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open a socket: %w", err)
	}
	r := &Reservation{fd: fd}
	if err := r.bind(port); err != nil {
		r.Release()
		return nil, err
	}
	return r, nil
}

func (r *Reservation) bind(port int) error {
	if err := unix.SetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return fmt.Errorf("cannot share a port: %w", err)
	}
	address := &unix.SockaddrInet4{Port: port}
	copy(address.Addr[:], net.ParseIP(plan.Host).To4())
	if err := unix.Bind(r.fd, address); err != nil {
		return refused(port, err)
	}
	bound, err := unix.Getsockname(r.fd)
	if err != nil {
		return fmt.Errorf("cannot read the port of a socket: %w", err)
	}
	got, isIPv4 := bound.(*unix.SockaddrInet4)
	if !isIPv4 {
		return fmt.Errorf("a socket has the unexpected address %v", bound)
	}
	r.Port = got.Port
	return nil
}

// Release gives the port back.
func (r *Reservation) Release() { _ = unix.Close(r.fd) }

// probe finds out whether anything has the port, even another cluster that would share it with us.
func probe(ctx context.Context, port int) error {
	address := net.JoinHostPort(plan.Host, strconv.Itoa(port))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", address)
	if err != nil {
		return refused(port, err)
	}
	_ = listener.Close()
	return nil
}

// refused explains why a port cannot be had.
func refused(port int, err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("cannot listen on port %d: %w", port, err)
	}
	holder := "another process"
	if info, found := procs.System().Listener(port); found {
		holder = fmt.Sprintf("process %d (%.60s)", info.PID, strings.Join(info.Command, " "))
	}
	return fmt.Errorf("port %d %w by %s; choose another with --port, or --port 0 for a free one", port, ErrPortTaken, holder)
}
