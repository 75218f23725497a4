package app

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

//go:embed repl.luau
var replSource string

// Session runs one input after the other in the same VM: globals stay, locals do not. It belongs to
// one goroutine. Path, Text and Args of its Script are not used;
// Timeout is of each input.
type Session struct {
	script   Script
	terminal bool
	vm       *engine.VM
	out      *writer
	tasks    *taskErrors
	show     *luau.Function
	members  *luau.Function
	failed   context.CancelCauseFunc // ends the input that runs
	count    int
}

// NewSession makes a session and its VM.
func NewSession(s Script) (*Session, error) {
	if err := checkFolders(s.Libs); err != nil {
		return nil, err
	}
	s.Path, s.Text, s.Args = "repl", nil, nil
	r := &Session{script: s, terminal: Terminal(s.Stdout)}
	return r, r.renew()
}

// renew makes a VM in place of one that was killed: such a one may be in the middle of anything.
func (r *Session) renew() error {
	r.Close()
	r.out = &writer{w: r.script.Stdout, failed: func(err error) {
		if r.failed != nil {
			r.failed(err)
		}
	}}
	r.tasks = &taskErrors{w: r.script.Stderr}
	vm, err := newVM(r.script, r.out, r.tasks, r.terminal)
	if err != nil {
		return err
	}
	r.vm = vm
	code, err := luau.Compile("=repl", replSource, luau.CompileOptions{})
	if err != nil {
		return err
	}
	main, err := vm.State().Load(code, "=repl", luau.LoadOptions{})
	if err != nil {
		return err
	}
	defer main.Release()
	made, err := main.Call(context.Background())
	if err != nil {
		return err
	}
	r.show, r.members = made[0].(*luau.Function), made[1].(*luau.Function)
	return nil
}

// Close frees the VM.
func (r *Session) Close() {
	if r.vm != nil {
		_ = r.vm.Close()
		r.vm = nil
	}
}

// Incomplete says whether text is the beginning of a chunk: the compiler met its end too early.
func Incomplete(text string) bool {
	_, err := compileInput("=repl", text)
	if err == nil || len(text) >= luau.MaxSource {
		return false
	}
	if _, asValue := luau.Compile("=repl", "return "+text, luau.CompileOptions{}); endsEarly(asValue, "return "+text) {
		return true
	}
	return endsEarly(err, text)
}

// endsEarly tells errors at the end of the text, and long strings and comments without their end: for
// these the compiler names the place where they begin.
func endsEarly(err error, text string) bool {
	var e *luau.Error
	if !errors.As(err, &e) {
		return false
	}
	if strings.Contains(e.Message, "got <eof>") {
		return true
	}
	lines := strings.Split(text, "\n")
	if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > len(lines[e.Line-1]) {
		return false
	}
	rest := strings.TrimPrefix(lines[e.Line-1][e.Column-1:], "--")
	level := strings.TrimLeft(strings.TrimPrefix(rest, "["), "=")
	return strings.HasPrefix(rest, "[") && strings.HasPrefix(level, "[")
}

// compileInput gives the text that is to run: an expression returns its values.
func compileInput(chunk, text string) (string, error) {
	if _, err := luau.Compile(chunk, "return "+text, luau.CompileOptions{}); err == nil {
		return "return " + text, nil
	}
	_, err := luau.Compile(chunk, text, luau.CompileOptions{})
	return text, err
}

// Run runs one input and its background tasks to their end, and gives its values as text. An error
// leaves the session usable; renewed says that the VM had to go and with it all globals.
func (r *Session) Run(ctx context.Context, text string) (shown string, renewed bool, err error) {
	r.count++
	chunk := "@repl[" + strconv.Itoa(r.count) + "]"
	r.tasks.reported = nil
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.failed = stop
	if r.script.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.script.Timeout, ErrTimeout)
		defer cancel()
	}
	source, err := compileInput(chunk, text)
	if err == nil {
		shown, err = r.evaluate(ctx, chunk, source)
	}
	if r.out.err != nil {
		return shown, false, fmt.Errorf("cannot write what the script prints: %w", r.out.err)
	}
	if luau.IsKilled(err) {
		if failed := r.renew(); failed != nil {
			return shown, true, failed
		}
		renewed = true
	}
	if err = exited(r.tasks.told(err)); err != nil {
		err = &textError{err, chunk, text}
	}
	return shown, renewed, err
}

func (r *Session) evaluate(ctx context.Context, chunk, source string) (string, error) {
	var values []any
	keep := func(v luau.Values) (err error) {
		values, err = v.All()
		return err
	}
	failed := r.vm.RunSource(ctx, chunk, source, engine.RunOptions{KeepTables: true, Use: keep})
	if len(values) == 0 || luau.IsKilled(failed) {
		return "", failed
	}
	if err := r.vm.State().SetGlobal("_", values[0]); err != nil {
		return "", errors.Join(failed, err)
	}
	var b strings.Builder
	for _, v := range values {
		text, err := r.show.Call(ctx, v)
		if err != nil {
			return b.String(), errors.Join(failed, err)
		}
		line, _ := text[0].(string)
		b.WriteString(line + "\n")
	}
	return b.String(), failed
}

// keywords are completed like names.
var keywords = strings.Fields(`and break continue do else elseif end export false for function if in local nil not or
	repeat return then true type until while`)

// Complete gives the ways in which the text may go on, each with the whole of it. No code of scripts
// runs for that: members behind a metamethod are not found.
func (r *Session) Complete(text string) []string {
	begin := len(text)
	for begin > 0 && strings.IndexByte(nameBytes, text[begin-1]) >= 0 {
		begin--
	}
	head, word := text[:begin], text[begin:]
	cut := strings.LastIndexAny(word, ".:") + 1
	path, prefix := word[:cut], word[cut:]
	found, err := r.members.Call(context.Background(), path, prefix)
	if err != nil || len(found) == 0 {
		return nil
	}
	var all []string
	names, _ := found[0].(string)
	list := strings.Fields(names)
	if path == "" {
		for _, k := range keywords {
			if prefix != "" && strings.HasPrefix(k, prefix) {
				list = append(list, k)
			}
		}
	}
	for _, name := range list {
		all = append(all, head+path+name)
	}
	return all
}

const nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:"
