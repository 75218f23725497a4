package typecheck

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	longestReply = 16 << 20
	exitTimeout  = 3
	exitMemory   = 4
	// A start takes some 5 ms; a machine that swaps needs longer.
	startTime = 30 * time.Second
	// How much longer than its own limits the process may take before it is ended from here.
	grace = 2 * time.Second
)

// child is one luau-check. Only the goroutine that has the Checker's turn may use it.
type child struct {
	process Process
	in      *bufio.Reader
	last    uint64
	sets    []string // loaded definitions, the last used one at the end
	killed  atomic.Bool
}

func startChild(o Options) (*child, error) {
	process, err := o.Start([]string{"--memory", strconv.FormatInt(o.Memory, 10)})
	if err != nil {
		return nil, err
	}
	c := &child{process: process, in: bufio.NewReaderSize(process, 64<<10)}
	var greeting hello
	if err := c.within(startTime, func() error { return c.read(&greeting) }); err != nil {
		return nil, c.end(err)
	}
	if greeting.Protocol != protocol {
		c.process.Kill()
		_, _ = c.process.Wait()
		return nil, failure("crash", "luau-check is of another version (%s): install it together with luau", greeting.Program)
	}
	return c, nil
}

// within kills the process when work does not end in time, which ends the work.
func (c *child) within(limit time.Duration, work func() error) error {
	timer := time.AfterFunc(limit, func() {
		c.killed.Store(true)
		c.process.Kill()
	})
	defer timer.Stop()
	return work()
}

func (c *child) read(into any) error {
	line, err := c.line()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, into); err != nil {
		return fmt.Errorf("luau-check wrote what is no JSON: %w", err)
	}
	return nil
}

func (c *child) line() ([]byte, error) {
	var line []byte
	for {
		part, err := c.in.ReadSlice('\n')
		if err == nil && line == nil {
			return part, nil
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > longestReply:
			return nil, fmt.Errorf("luau-check wrote a line of more than %d bytes", longestReply)
		}
	}
}

func (c *child) write(value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = c.process.Write(append(line, '\n'))
	return err
}

// end waits for a process that cannot be used any more, and says why.
func (c *child) end(cause error) *Failure {
	c.process.Kill()
	code, said := c.process.Wait()
	switch {
	case code == exitTimeout || c.killed.Load():
		return failure("timeout", "the type checker took too long")
	case code == exitMemory:
		return failure("memory", "the type checker ran out of memory")
	}
	if said = strings.TrimSpace(said); said != "" {
		return failure("crash", "the type checker ended: %s", said)
	}
	if errors.Is(cause, io.EOF) || code != 0 {
		return failure("crash", "the type checker ended")
	}
	return failure("crash", "the type checker ended: %v", cause)
}

// use makes sure that a set of definitions is loaded.
func (c *child) use(d Definitions, o Options) error {
	return c.within(o.LoadTime+grace, func() error { return c.load(d, o) })
}

func (c *child) load(d Definitions, o Options) error {
	if at := slices.Index(c.sets, d.ID); at >= 0 {
		c.sets = append(slices.Delete(c.sets, at, at+1), d.ID)
		return nil
	}
	for len(c.sets) >= o.Sets {
		if _, err := c.ask(dropRequest{"drop", c.next(), c.sets[0]}, Request{}); err != nil {
			return err
		}
		c.sets = c.sets[1:]
	}
	answer, err := c.ask(loadRequest{"load", c.next(), d.ID, d.Text, o.LoadTime.Seconds()}, Request{})
	if err != nil {
		return err
	}
	if answer.Failed != "" {
		return definitionsFailure(answer)
	}
	c.sets = append(c.sets, d.ID)
	return nil
}

func definitionsFailure(answer *reply) error {
	if len(answer.Findings) == 0 {
		return failure("definitions", "the definitions do not load")
	}
	f := answer.Findings[0]
	return failure("definitions", "the definitions do not load: line %d: %s", f.Line, oneLine(f.Message))
}

func (c *child) next() uint64 {
	c.last++
	return c.last
}

// check asks about one script. Its definitions are loaded.
func (c *child) check(req Request, o Options) ([]raw, error) {
	message := checkRequest{
		"check", c.next(), req.Definitions.ID, script, req.Source, req.Mode != Nonstrict, o.Time.Seconds(), req.Modules.ID,
	}
	var answer *reply
	err := c.within(2*o.Time+grace, func() (err error) {
		answer, err = c.ask(message, req)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case answer.Failed == "timeout":
		return nil, failure("timeout", "the type checker took longer than %v", o.Time)
	case answer.Failed != "":
		return nil, failure("crash", "the type checker failed: %s", oneLine(firstMessage(answer)))
	}
	return answer.Findings, nil
}

func firstMessage(answer *reply) string {
	if len(answer.Findings) > 0 {
		return answer.Findings[0].Message
	}
	return answer.Failed
}

// broken is an error after which the process cannot be used.
type broken struct{ error }

func (b broken) Unwrap() error { return b.error }

// ask sends a request and answers questions until there is the answer.
func (c *child) ask(message any, req Request) (*reply, error) {
	if err := c.write(message); err != nil {
		return nil, broken{err}
	}
	for {
		var r reply
		if err := c.read(&r); err != nil {
			return nil, broken{err}
		}
		switch {
		case r.Ask != nil:
			if err := c.write(module(req, r.Ask.From, r.Ask.Name)); err != nil {
				return nil, broken{err}
			}
		case r.ID != c.last:
			return nil, broken{fmt.Errorf("luau-check answered %d in place of %d", r.ID, c.last)}
		default:
			return &r, nil
		}
	}
}

// module answers the process's question for one.
func module(req Request, from, name string) any {
	if req.Modules.Resolve == nil {
		return missingModule{"nothing can be required here"}
	}
	if from == script {
		from = req.Chunk
	}
	found, source, err := req.Modules.Resolve(from, name)
	if err != nil {
		return missingModule{err.Error()}
	}
	var m foundModule
	m.Found.Module, m.Found.Source = found, source
	return m
}
