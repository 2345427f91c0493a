package supervise

import (
	"fmt"
	"syscall"
	"time"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/layout"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/procs"
)

// endLimit is how long a killed process may take to be gone; only one stuck in the kernel takes longer.
const endLimit = 10 * time.Second

// Sweep ends what an earlier supervisor of this directory may have left. The caller holds the lock, so there is no
// supervisor any more and its components are about to end by themselves; this only makes sure.
func Sweep(dir layout.Dir, table procs.Table) error {
	old, _ := layout.ReadStatus(dir) // without a state, or with a damaged one, there is nobody to be named
	return End(dir, table, append(old.Children(), old.Supervisor)...)
}

// End kills those of the processes that are ours and waits until they are gone.
func End(dir layout.Dir, table procs.Table, ids ...procs.ID) error {
	var ours []procs.ID
	for _, id := range ids {
		if !table.Ours(id, string(dir)) {
			continue
		}
		if err := table.Signal(id, string(dir), syscall.SIGKILL); err != nil {
			return err
		}
		ours = append(ours, id)
	}
	if left := table.WaitGone(ours, endLimit); len(left) > 0 {
		return fmt.Errorf("process %d was killed but does not end; look at it with ps -p %d", left[0].PID, left[0].PID)
	}
	return nil
}
