package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine is where the bench took place.
type machine struct {
	CPUs    int    `json:"cpus"`
	Model   string `json:"model"`
	Load    string `json:"load"` // averages of 1, 5 and 15 minutes when the session began
	Ansible string `json:"ansible"`
}

func lookAtMachine() machine {
	return machine{CPUs: runtime.NumCPU(), Model: cpuModel(), Load: loadAverages(), Ansible: ansibleVersion()}
}

func (m machine) String() string {
	return fmt.Sprintf("%d CPUs (%s), load %s before the start, %s", m.CPUs, m.Model, m.Load, m.Ansible)
}

func cpuModel() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func loadAverages() string {
	text, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}

func ansibleVersion() string {
	out, _ := exec.Command("ansible-playbook", "--version").Output()
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}
