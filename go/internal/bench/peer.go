package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// peer is another program that measures: a request on its standard input, one line, is answered by
// one line with a number.
type peer struct {
	name string
	path string

	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// ask makes a measurement of a request. The peer starts when it is asked for the first time.
func (p *peer) ask(request string) peerMeasurement {
	return peerMeasurement{p.name, func(least time.Duration) (float64, error) {
		if p.process == nil {
			if err := p.start(); err != nil {
				return 0, err
			}
		}
		if _, err := fmt.Fprintf(p.in, "%s %g\n", request, least.Seconds()); err != nil {
			return 0, err
		}
		answer, err := p.out.ReadString('\n')
		if err != nil {
			return 0, fmt.Errorf("%s gave no answer to %q: %w", p.path, request, err)
		}
		return strconv.ParseFloat(strings.TrimSpace(answer), 64)
	}}
}

func (p *peer) start() error {
	p.process = exec.Command(p.path)
	p.process.Stderr = os.Stderr
	in, err := p.process.StdinPipe()
	if err != nil {
		return err
	}
	out, err := p.process.StdoutPipe()
	if err != nil {
		return err
	}
	p.in, p.out = in, bufio.NewReader(out)
	if err := p.process.Start(); err != nil {
		return fmt.Errorf("%w (make bench-peers builds the peers)", err)
	}
	return nil
}

func (p *peer) close() {
	if p.process != nil && p.process.Process != nil {
		p.in.Close()
		_ = p.process.Wait()
	}
}

// ask collects what the named peers say to a request. Peers that were not asked for are left out.
func (b *bench) ask(request string, names ...string) []peerMeasurement {
	var out []peerMeasurement
	for _, name := range names {
		for _, p := range b.peers {
			if p.name == name {
				out = append(out, p.ask(request))
			}
		}
	}
	return out
}
