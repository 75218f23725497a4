// Package replcmd is `luau repl`: a prompt that runs one input after the other.
package replcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/permit"
	"github.com/hukilau/hukilau/go/internal/cli/size"
)

const long = `Runs Luau line by line. An expression shows its values, and _ is the first of the last ones. Globals stay from
input to input; locals end with theirs, so use globals. An input that is not complete goes on in the next
line. Ctrl-C ends what runs, Ctrl-D the session. Without a terminal it reads all inputs and shows no prompts.`

const greeting = "Globals stay, locals end with their input. _ is the last value, Tab completes, Ctrl-D ends.\n"

type flags struct {
	timeout time.Duration
	memory  size.Bytes
	native  bool
	libs    []string
	permit  permit.Flags
}

// Command makes the command.
func Command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use: "repl [flags]", Short: "Run Luau line by line", Long: long, Args: exit.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd, &f) },
	}
	p := cmd.Flags()
	p.DurationVar(&f.timeout, "timeout", 0, "end each input after this `time`, as 30s or 500ms; 0 is no limit")
	p.Var(&f.memory, "memory", "most memory that the session may use, as 64MiB (default 256MiB, at least 1MiB)")
	p.Lookup("memory").DefValue = ""
	p.BoolVar(&f.native, "native", false, "make native code of what is run")
	p.StringArrayVar(&f.libs, "lib", nil, "a `folder` of modules for require, before those of LUAU_PATH; may be repeated")
	f.permit.Register(p)
	return cmd
}

// leastMemory is what a State and a small script take.
const leastMemory size.Bytes = 1 << 20

func run(cmd *cobra.Command, f *flags) error {
	unused := f.permit.Unused(cmd.Flags())
	switch {
	case f.timeout < 0:
		return exit.Usagef("--timeout must not be negative")
	case cmd.Flags().Changed("memory") && f.memory < leastMemory:
		return exit.Usagef("--memory %s is too little: a session needs at least %s", f.memory.String(), leastMemory.String())
	case unused != "":
		return exit.Usagef("%s without --sandbox has no effect: without it everything is allowed", unused)
	}
	session, err := app.NewSession(app.Script{
		Libs: f.libs, Timeout: f.timeout, Memory: int64(f.memory), Native: f.native,
		Permissions: f.permit.Permissions(), Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(),
	})
	if err != nil {
		return err
	}
	defer session.Close()
	l := &loop{session: session, out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(), colour: app.Coloured(cmd.ErrOrStderr())}
	if in, ok := cmd.InOrStdin().(io.Writer); ok && app.Terminal(in) && app.Terminal(cmd.OutOrStdout()) {
		editor := newEditor(cmd.Context(), session)
		defer editor.close()
		fmt.Fprint(l.out, greeting)
		err := l.run(cmd.Context(), editor)
		fmt.Fprintln(l.out) // the shell's prompt begins a line
		return err
	}
	return l.run(cmd.Context(), newPlain(cmd.Context(), cmd.InOrStdin()))
}

// reader gives lines. running is around what runs between them.
type reader interface {
	line(more bool) (string, error)
	remember(input string)
	running(run func())
}

// errAborted is a line that its user gave up.
var errAborted = errors.New("aborted")

type loop struct {
	session  *app.Session
	out, err io.Writer
	colour   bool
}

func (l *loop) run(ctx context.Context, in reader) error {
	text := ""
	for {
		line, err := in.line(text != "")
		switch {
		case errors.Is(err, errAborted):
			text = ""
			continue
		case errors.Is(err, io.EOF):
			if err := l.input(ctx, in, text); !errors.Is(err, io.EOF) { // incomplete: it hears so
				return err
			}
			return nil
		case err != nil:
			return err
		}
		text += line + "\n"
		if strings.TrimSpace(text) == "" {
			text = ""
			continue
		}
		if app.Incomplete(text) {
			continue
		}
		in.remember(strings.TrimSpace(text))
		switch err := l.input(ctx, in, text); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		text = ""
	}
}

// input runs one input; its errors are shown and the session goes on, unless the whole program ends.
func (l *loop) input(ctx context.Context, in reader, text string) (end error) {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	in.running(func() {
		one, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer exit.InterruptsOf(ctx).Take(func() { cancel(exit.ErrInterrupted) })()
		shown, renewed, err := l.session.Run(one, text)
		_, bad := io.WriteString(l.out, shown)
		var ended *app.ExitError
		switch {
		case ctx.Err() != nil:
			end = context.Cause(ctx)
		case errors.As(err, &ended):
			end = ended
		case bad != nil:
			end = bad
		case err != nil:
			l.tell(one, err)
		case renewed:
			end = io.EOF // the script ended itself, with code 0
		}
		if renewed && end == nil {
			fmt.Fprintln(l.err, "the session begins anew: its globals are gone")
		}
	})
	return end
}

func (l *loop) tell(ctx context.Context, err error) {
	if errors.Is(context.Cause(ctx), exit.ErrInterrupted) {
		fmt.Fprintln(l.err, "interrupted")
		return
	}
	_, _ = io.WriteString(l.err, app.Report(err, l.colour))
}
