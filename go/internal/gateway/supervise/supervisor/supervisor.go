// Package supervisor is the process that stands between us and the program of an upstream server: package supervise
// starts it. It knows nothing of servers, so that a small executable can be one.
package supervisor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Argument is the first argument of a supervisor: main must call Main before anything else where it stands.
const Argument = "__supervise"

// Files that a supervisor gets beside the three that are the program's.
const (
	ControlFile = 3 // closes when the program is to end
	ReportFile  = 4 // says why the program could not be started
)

// How long a program has to end: after its input has ended, and after it was told to. Then it is killed.
const (
	endTime  = 1500 * time.Millisecond
	termTime = time.Second
	killTime = 5 * time.Second
	// MostTime is how long it takes at most.
	MostTime = endTime + termTime + killTime
)

// Main is the supervisor, where the arguments of the process say that it is one. It does not return then.
func Main(args []string) {
	if len(args) > 2 && args[1] == Argument {
		os.Exit(supervise(args[2], args[3:]))
	}
}

// supervise runs a program until nothing of it is left. It gives the program's exit code.
func supervise(path string, args []string) int {
	runtime.LockOSThread() // the program is told when the thread that started it ends: this one does not
	control, report := os.NewFile(ControlFile, "control"), os.NewFile(ReportFile, "report")
	for _, fd := range []int{ControlFile, ReportFile} {
		syscall.CloseOnExec(fd)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	adopt()
	child, err := launch(path, args)
	if err != nil {
		fmt.Fprint(report, err)
		return 127
	}
	_ = report.Close()
	if err := letGo(); err != nil {
		return 126
	}
	s := &supervisor{child: child, gone: make(chan struct{})}
	go s.reap()
	over := make(chan struct{})
	go func() {
		_, _ = control.Read(make([]byte, 1)) // nothing is ever written there
		close(over)
	}()
	select {
	case <-s.gone:
	case <-over:
		s.end()
	case <-signals:
		s.end()
	}
	return s.code
}

// launch starts the program with the three files that are its own.
func launch(path string, args []string) (int, error) {
	found, err := exec.LookPath(path)
	if err != nil {
		return 0, err
	}
	cmd := &exec.Cmd{
		Path: found, Args: append([]string{path}, args...),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, SysProcAttr: attributes(),
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("%s: %w", path, Plain(err))
	}
	return cmd.Process.Pid, nil
}

// Plain is an error of a program's start without a path of ours.
func Plain(err error) error {
	var failed *os.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// letGo gives up the program's input and output, so that their ends are seen when the program closes them.
func letGo() error {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for fd := range 2 {
		if err := replace(null, fd); err != nil {
			return err
		}
	}
	return unix.Close(null)
}

type supervisor struct {
	child int           // the program; also its process group
	code  int           // its exit code, once gone is closed
	gone  chan struct{} // closed when nothing is left
}

// reap waits for the program and for what it has left to us.
func (s *supervisor) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // there is nobody to wait for
			close(s.gone)
			return
		case pid == s.child && status.Signaled():
			s.code = 128 + int(status.Signal())
		case pid == s.child:
			s.code = status.ExitStatus()
		}
	}
}

// end ends what runs: its input has ended, so it may do so by itself; then it is told; then it is killed.
func (s *supervisor) end() {
	if s.within(endTime) {
		return
	}
	s.signal(syscall.SIGTERM)
	if s.within(termTime) {
		return
	}
	for deadline := time.Now().Add(killTime); time.Now().Before(deadline); {
		s.signal(syscall.SIGKILL)
		if s.within(5 * time.Millisecond) {
			return
		}
	}
}

func (s *supervisor) within(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-s.gone:
		return true
	case <-t.C:
		return false
	}
}

// signal signals the program's group, and all that is below us.
func (s *supervisor) signal(sig syscall.Signal) {
	_ = syscall.Kill(-s.child, sig) // it may be gone
	for _, pid := range below(os.Getpid()) {
		_ = syscall.Kill(pid, sig)
	}
}
