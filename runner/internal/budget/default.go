package budget

import "github.com/KimMachineGun/automemlimit/memlimit"

const (
	// runsPerCPU is more than one, since most of a play's time is waiting for the API server or for something to
	// become ready.
	runsPerCPU = 4
	// runMemory is what a play takes: ansible-playbook, one worker and one module with the Kubernetes client.
	runMemory = 160 << 20
	// ownMemory is what the operator itself takes.
	ownMemory = 128 << 20
	// unlimited is what a cgroup without a limit says, or close to it.
	unlimited = 1 << 60
)

// Default returns how many runs a machine bears: by its CPUs, and by its memory if a limit is known. It is at least 1.
// limit is in bytes; zero means that none is known.
func Default(cpus int, limit uint64) int {
	runs := max(1, cpus) * runsPerCPU
	if limit == 0 || limit >= unlimited {
		return runs
	}
	if limit < ownMemory+runMemory {
		return 1
	}
	return min(runs, int((limit-ownMemory)/runMemory))
}

// MemoryLimit returns the limit of the cgroup that the process is in, in bytes; zero if there is none or if it cannot be told.
func MemoryLimit() uint64 {
	limit, err := memlimit.FromCgroup()
	if err != nil {
		return 0 // no cgroup, or none with a limit: the CPUs alone decide
	}
	return limit
}
