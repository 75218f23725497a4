//go:build unix && !linux

package supervisor

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// adopt does nothing: here a process cannot become the parent of orphans. The program's group is what is ended.
func adopt() {}

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func replace(from, to int) error { return unix.Dup2(from, to) }

func below(int) []int { return nil }
