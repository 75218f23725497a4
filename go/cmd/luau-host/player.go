package main

import (
	"io"
	"os/exec"
	"sync"

	"github.com/hukilau/hukilau/go/internal/music"
)

// startPlayer starts a command that plays what comes on its standard input. What it prints is dropped: standard
// output may belong to a protocol.
func startPlayer(command []string) (music.Program, error) {
	cmd := exec.Command(command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &playing{WriteCloser: in, cmd: cmd}
	go func() { _ = cmd.Wait() }() // it may fail: the next Write says so
	return p, nil
}

// playing is a player command that runs.
type playing struct {
	io.WriteCloser
	cmd  *exec.Cmd
	once sync.Once
}

// Kill implements music.Program.
func (p *playing) Kill() {
	p.once.Do(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		_ = p.Close()
	})
}
