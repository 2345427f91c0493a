package e2e

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// loopback is how /proc/net/tcp writes 127.0.0.1.
const loopback = "0100007F:"

// loopbackOnly looks at every listening socket of every process of the cluster.
func loopbackOnly(t *testing.T, c cluster) {
	status := c.status(t)
	found := 0
	for _, component := range status.Components {
		for _, address := range listeners(t, component.PID) {
			found++
			if !strings.HasPrefix(address, loopback) {
				t.Errorf("%s listens on %s", component.Name, address)
			}
		}
	}
	if want := len(status.Ports); found != want {
		t.Errorf("%d sockets listen, want %d", found, want)
	}
}

// listeners are the local addresses, in the kernel's notation, of the sockets that a process listens on.
func listeners(t *testing.T, pid int) []string {
	t.Helper()
	sockets := map[string]bool{}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, "socket:[") {
			sockets[strings.TrimSuffix(strings.TrimPrefix(target, "socket:["), "]")] = true
		}
	}
	var addresses []string
	for _, table := range []string{"tcp", "tcp6"} {
		file, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if f := strings.Fields(lines.Text()); len(f) > 9 && f[3] == "0A" && sockets[f[9]] {
				addresses = append(addresses, f[1])
			}
		}
		_ = file.Close()
	}
	return addresses
}
