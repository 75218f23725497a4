package app

import (
	"context"
	_ "embed"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/visible"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

//go:embed repl.luau
var replSource string

// Session runs one input after the other in the same VM: globals stay, locals do not. It belongs to
// one goroutine. Timeout is of each input.
type Session struct {
	script  Script
	words   *console
	vm      *engine.VM
	show    *luau.Function
	members *luau.Function
	count   int
}

// NewSession makes a session and its VM.
func NewSession(s Settings) (*Session, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	s.NoStdin = "the prompt reads standard input itself; a script can read it"
	r := &Session{script: Script{Settings: s, Path: "repl"}}
	r.words = r.script.console()
	return r, r.renew()
}

// grace is how long an input that is to end may take to come to a place where the VM survives that.
const grace = 500 * time.Millisecond

// renew makes a VM in place of one that was killed: such a one may be in the middle of anything.
func (r *Session) renew() error {
	r.Close()
	vm, err := r.script.newVM(r.words)
	if err != nil {
		return err
	}
	r.vm = vm
	made, err := vm.State().Do(context.Background(), "=repl", replSource)
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

// Input is a text that can run, or one that cannot, which its run says.
type Input struct{ text, source string }

// Read says whether text is a whole input: it is not where the compiler met its end too early.
func Read(text string) (in Input, whole bool) {
	in = Input{text: text, source: "return " + text} // an expression gives its values
	if strings.ContainsRune(text, 0) {
		return in, true // the compiler would take it for the end; Run refuses it
	}
	_, err := luau.Compile("=repl", in.source, luau.CompileOptions{})
	if err == nil {
		return in, true
	}
	if endsEarly(err, in.source) {
		return in, false
	}
	in.source = text
	_, err = luau.Compile("=repl", text, luau.CompileOptions{})
	return in, !endsEarly(err, text)
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

// Run runs one input and its background tasks to their end, and prints its values. An error leaves the
// session usable, and so does the end of ctx; renewed says that the VM had to go and with it all globals,
// because the input could only be killed.
func (r *Session) Run(ctx context.Context, in Input) (renewed bool, err error) {
	r.count++
	chunk := "@repl[" + strconv.Itoa(r.count) + "]"
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, cancel := r.script.limited(ctx)
	defer cancel()
	r.words.begin(ctx, stop)
	err = r.evaluate(ctx, chunk, in)
	if luau.IsKilled(err) {
		if failed := r.renew(); failed != nil {
			return true, failed
		}
		renewed = true
	}
	if err = r.script.hinted(exited(r.words.told(err))); err != nil {
		err = &textError{err, chunk, in.text}
	}
	return renewed, err
}

func (r *Session) evaluate(ctx context.Context, chunk string, in Input) error {
	if _, err := module.CleanText(luau.ChunkName(chunk), []byte(in.text)); err != nil {
		return err
	}
	var values []any
	keep := func(v luau.Values) (err error) {
		values, err = v.AllKept()
		return err
	}
	failed := r.vm.RunSource(ctx, chunk, in.source, engine.RunOptions{KeepTables: true, Use: keep, Grace: grace})
	if len(values) == 0 || luau.IsKilled(failed) || ctx.Err() != nil {
		return failed
	}
	if err := r.vm.State().SetGlobal("_", values[0]); err != nil {
		return errors.Join(failed, err)
	}
	for _, v := range values {
		if err := r.vm.Run(ctx, r.show, engine.RunOptions{Grace: grace}, r.print, v); err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

// print prints what show made of a value.
func (r *Session) print(shown luau.Values) error {
	text, err := shown.All()
	if err != nil {
		return err
	}
	line, _ := text[0].(string)
	r.words.print([]byte(visible.Text(line) + "\n"))
	return nil
}

// What to do in place of the words that other prompts know.
const (
	toLeave = `Ctrl-D ends the session, or require("process").exit()`
	toLearn = "`luau doc` in a shell lists the libraries, `luau doc http.get` shows a function. Here Tab completes names,\n" +
		`require("http") gives a library, and Ctrl-D ends the session.`
)

// Advice says what to do in place of exit, quit or help, with or without a call, unless there is a global of
// that name.
func (r *Session) Advice(text string) string {
	name := strings.TrimSuffix(strings.TrimSpace(text), "()")
	words := ""
	switch name {
	case "exit", "quit":
		words = toLeave
	case "help":
		words = toLearn
	default:
		return ""
	}
	if value, err := r.vm.State().Global(name); err != nil || value != nil {
		return ""
	}
	return words
}

// keywords are completed like names.
var keywords = strings.Fields(`and break continue do else elseif end export false for function if in local nil not or
	repeat return then true type until while`)

// Complete gives the ways in which the text may go on, each with the whole of it. No code of scripts
// runs for that: members behind a metamethod are not found.
func (r *Session) Complete(text string) []string {
	head := strings.TrimRight(text, nameBytes)
	word := text[len(head):]
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
