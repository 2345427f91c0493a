package procs

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// listening is the state LISTEN in /proc/net/tcp.
const listening = "0A"

// Listener finds the process that listens on a TCP port of this machine, if this user may see it.
func (t Table) Listener(port int) (Info, bool) {
	inodes := map[string]bool{}
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		t.sockets(table, port, inodes)
	}
	if len(inodes) == 0 {
		return Info{}, false
	}
	links, _ := filepath.Glob(filepath.Join(t.root, "[0-9]*", "fd", "*"))
	for _, link := range links {
		target, err := os.Readlink(link)
		inode, isSocket := strings.CutPrefix(target, "socket:[")
		if err != nil || !isSocket || !inodes[strings.TrimSuffix(inode, "]")] {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(link))))
		info, err := t.Look(pid)
		return info, err == nil
	}
	return Info{}, false
}

// sockets collects the inodes of sockets that listen on the port.
func (t Table) sockets(table string, port int, inodes map[string]bool) {
	file, err := os.Open(filepath.Join(t.root, table))
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	suffix := fmt.Sprintf(":%04X", port)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > 9 && strings.HasSuffix(fields[1], suffix) && fields[3] == listening {
			inodes[fields[9]] = true
		}
	}
}
