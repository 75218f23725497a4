package replcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/peterh/liner"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// plain reads what is no terminal.
type plain struct {
	ctx   context.Context
	lines chan answer
}

func newPlain(ctx context.Context, r io.Reader) *plain {
	p := &plain{ctx: ctx, lines: make(chan answer)}
	go p.read(r)
	return p
}

// read may block for ever: it is left behind when the program ends.
func (p *plain) read(r io.Reader) {
	in := bufio.NewReader(r)
	for {
		line, err := readLine(in)
		select {
		case p.lines <- answer{line, err}:
		case <-p.ctx.Done():
			return
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return
		}
	}
}

// errLongLine is a line that no script can hold. What comes after it can be read.
var errLongLine = fmt.Errorf("the line is longer than the %d MiB that a script may have; it was left out", luau.MaxSource>>20)

// readLine reads a line of any length and keeps no more of it than a script may have. The last one need not
// have an end.
func readLine(in *bufio.Reader) (string, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > luau.MaxSource; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long:
			return "", errLongLine // a failure to read will be there again
		case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
			text := strings.TrimSuffix(string(line), "\n")
			return strings.TrimSuffix(text, "\r"), nil
		case errors.Is(err, io.EOF):
			return "", err
		}
		return "", fmt.Errorf("cannot read the input: %w", err)
	}
}

func (p *plain) line(bool) (string, error) {
	select {
	case a := <-p.lines:
		return a.line, a.err
	case <-p.ctx.Done():
		return "", context.Cause(p.ctx)
	}
}

func (p *plain) remember(string)    {}
func (p *plain) running(run func()) { run() }

// answer is what a Prompt brought.
type answer struct {
	line string
	err  error
}

// editor reads lines at a terminal. Where the library can only print a prompt and let the terminal do the
// rest (TERM=dumb, a narrow one), Ctrl-C is a signal also while a line is typed.
type editor struct {
	ctx          context.Context
	asked        chan answer // of a Prompt that is under way; nil: none is
	interrupts   *exit.Interrupts
	out          io.Writer
	state        *liner.State
	cooked, keys liner.ModeApplier
}

func newEditor(ctx context.Context, session *app.Session, out io.Writer) *editor {
	cooked, _ := liner.TerminalMode()
	e := &editor{ctx: ctx, state: liner.NewLiner(), cooked: cooked, interrupts: exit.InterruptsOf(ctx), out: out}
	e.keys, _ = liner.TerminalMode()
	e.state.SetCtrlCAborts(true)
	e.state.SetTabCompletionStyle(liner.TabPrints)
	e.state.SetCompleter(session.Complete)
	_, _ = e.state.ReadHistory(strings.NewReader(app.ReadHistory()))
	return e
}

func (e *editor) line(more bool) (string, error) {
	prompt := "> "
	if more {
		prompt = ".. "
	}
	if e.asked == nil {
		e.asked = make(chan answer, 1)
		go func(asked chan<- answer) {
			line, err := e.state.Prompt(prompt)
			asked <- answer{line, err}
		}(e.asked)
	} else { // the terminal has dropped what was typed, and the Prompt goes on
		fmt.Fprint(e.out, "\n"+prompt)
	}
	aborted := make(chan struct{}, 1)
	defer e.interrupts.Take(func() {
		select {
		case aborted <- struct{}{}:
		default:
		}
	})()
	select {
	case a := <-e.asked:
		e.asked = nil
		if errors.Is(a.err, liner.ErrPromptAborted) {
			return "", errAborted
		}
		return a.line, a.err
	case <-aborted:
		return "", errAborted
	case <-e.ctx.Done(): // the program ends, and Prompt with it
		return "", context.Cause(e.ctx)
	}
}

func (e *editor) remember(input string) {
	for line := range strings.Lines(input) {
		e.state.AppendHistory(strings.TrimRight(line, "\n"))
	}
}

// running gives the terminal its own mode, in which Ctrl-C is a signal.
func (e *editor) running(run func()) {
	if e.cooked != nil && e.keys != nil {
		_ = e.cooked.ApplyMode()
		defer func() { _ = e.keys.ApplyMode() }()
	}
	run()
}

func (e *editor) cookedMode() error {
	if e.cooked == nil {
		return nil
	}
	return e.cooked.ApplyMode()
}

// close keeps the history. That it cannot is no reason to fail at the end of a session.
func (e *editor) close() {
	var text strings.Builder
	if _, err := e.state.WriteHistory(&text); err == nil {
		_ = app.WriteHistory(text.String())
	}
	if e.asked != nil {
		_ = e.cookedMode()
		return
	}
	_ = e.state.Close()
}
