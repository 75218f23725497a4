// Package supervise starts the programs of upstream servers, and sees to it that nothing of them outlives us: not what
// a shell has left in the background, not what has moved to a session of its own, and not when we are killed.
//
// Between us and each program stands a process of an executable of ours, the supervisor. It holds the end of a
// pipe from us, and when that closes, for whatever reason, it ends all that the program has started. What is said
// over the program's own pipes does not pass through it.
package supervise

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/hukilau/hukilau/go/internal/gateway/supervise/supervisor"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
)

// Starter gives the function that starts programs of upstream servers below a supervisor, which is the executable of
// that path: one of ours, whose main calls supervisor.Main.
func Starter(executable string) func(upstream.Command) (*upstream.Process, error) {
	return func(c upstream.Command) (*upstream.Process, error) { return start(executable, c) }
}

// pipes are the pipes of a program: our ends and its ends.
type pipes struct{ ours, theirs []*os.File }

// add makes a pipe.
func (p *pipes) add(weWrite bool) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	if weWrite {
		r, w = w, r
	}
	p.ours, p.theirs = append(p.ours, r), append(p.theirs, w)
	return nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func start(executable string, c upstream.Command) (*upstream.Process, error) {
	if c.Dir != "" {
		if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
			return nil, errors.New("its folder (cwd) does not exist: " + c.Dir)
		}
	}
	var p pipes
	for _, weWrite := range []bool{true, false, false, true, false} {
		if err := p.add(weWrite); err != nil {
			closeAll(append(p.ours, p.theirs...))
			return nil, err
		}
	}
	cmd := &exec.Cmd{
		Path: executable, Args: append([]string{executable, supervisor.Argument, c.Path}, c.Args...), Env: c.Env, Dir: c.Dir,
		Stdin: p.theirs[0], Stdout: p.theirs[1], Stderr: p.theirs[2], ExtraFiles: p.theirs[supervisor.ControlFile:],
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}, // signals of a terminal are for us
	}
	err := cmd.Start()
	closeAll(p.theirs)
	if err != nil {
		closeAll(p.ours)
		return nil, supervisor.Plain(err)
	}
	s := &supervised{cmd: cmd, control: p.ours[supervisor.ControlFile], ended: make(chan struct{})}
	go s.wait()
	report := p.ours[supervisor.ReportFile]
	problem, err := io.ReadAll(io.LimitReader(report, 4<<10))
	_ = report.Close()
	if err == nil && len(problem) > 0 {
		err = errors.New(string(problem))
	}
	if err != nil {
		closeAll(p.ours[:supervisor.ReportFile])
		<-s.ended
		return nil, err
	}
	return &upstream.Process{In: p.ours[0], Out: p.ours[1], Err: p.ours[2], Stop: s.stop}, nil
}

// supervised is a program from our side.
type supervised struct {
	cmd     *exec.Cmd
	control *os.File
	ended   chan struct{}
	once    sync.Once
}

func (s *supervised) wait() {
	_ = s.cmd.Wait() // its exit code is the program's, and says nothing that its output has not
	close(s.ended)
}

// stop ends the program and all that it has started.
func (s *supervised) stop() {
	s.once.Do(func() { _ = s.control.Close() })
	late := time.NewTimer(supervisorTime)
	defer late.Stop()
	select {
	case <-s.ended:
	case <-late.C: // what it waits for, nobody can end
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
}

// supervisorTime is how long a supervisor may take.
const supervisorTime = supervisor.MostTime + time.Second
