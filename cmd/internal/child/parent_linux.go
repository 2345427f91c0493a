package child

import "syscall"

// endWithParent has the kernel ask a child to end when its parent is gone.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
