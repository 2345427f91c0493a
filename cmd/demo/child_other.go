//go:build !linux

package main

import "syscall"

// endWithParent does nothing: only Linux can do it.
func endWithParent(*syscall.SysProcAttr) {}
