package supervisor

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// adopt makes us the parent of what our descendants leave behind.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } // a kernel too old for it does what it can

// attributes of the program: a process group of its own, and its end where we are killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func replace(from, to int) error { return unix.Dup3(from, to, 0) }

// below are the descendants of a process.
func below(root int) []int {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, entry := range names {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			if parent := parentOf(pid); parent > 0 {
				children[parent] = append(children[parent], pid)
			}
		}
	}
	var found []int
	for next := []int{root}; len(next) > 0; next = next[1:] {
		found = append(found, children[next[0]]...)
		next = append(next, children[next[0]]...)
	}
	return found
}

// parentOf reads the parent of a process; 0 where it is gone. The name of the program, before it, may hold anything.
func parentOf(pid int) int {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1])) // 0 where it is no number
	return parent
}
