//go:build !linux

package child

import "syscall"

// endWithParent does nothing: only Linux can do it.
func endWithParent(*syscall.SysProcAttr) {}
