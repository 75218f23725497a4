// Package replcmd is `luau repl`: a prompt that runs one input after the other.
package replcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/runflags"
)

const long = `Runs Luau line by line. An expression shows its values, and _ is the first of the last ones. Globals stay from
input to input; locals end with theirs, so use globals. An input that is not complete goes on in the next
line. Ctrl-C ends what runs or clears a line; Ctrl-D ends the session. Without a terminal it reads all inputs and shows
no prompts.

An error does not end the session, with or without a terminal, so the exit code is 0 at its end, as it is with
python -i, node -i and lua -i. To let errors count, run the text as one script: luau -`

const greeting = "Globals stay, locals end with their input. _ is the last value, Tab completes, Ctrl-D ends.\n"

// Command makes the command.
func Command() *cobra.Command {
	var f runflags.Flags
	cmd := &cobra.Command{
		Use: "repl [flags]", Short: "Run Luau line by line", Long: long, Args: exit.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd, &f) },
	}
	f.Register(cmd, "input", "session", 0)
	return cmd
}

func run(cmd *cobra.Command, f *runflags.Flags) error {
	if err := f.Check(cmd); err != nil {
		return err
	}
	session, err := app.NewSession(f.Settings)
	if err != nil {
		return err
	}
	defer session.Close()
	l := &loop{session: session, out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(), tell: f.Tell}
	if in, ok := cmd.InOrStdin().(io.Writer); ok && app.Terminal(in) && app.Terminal(cmd.OutOrStdout()) {
		defer app.Sized(l.out)()
		editor := newEditor(cmd.Context(), session, l.out)
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
	tell     func(error) string
}

func (l *loop) run(ctx context.Context, in reader) error {
	text := ""
	var input app.Input
	for {
		line, err := in.line(text != "")
		switch {
		case errors.Is(err, errAborted):
			text = ""
			continue
		case errors.Is(err, errLongLine):
			text = ""
			l.report(ctx, err)
			continue
		case errors.Is(err, io.EOF):
			if text == "" {
				return nil
			}
			if err := l.input(ctx, in, input); !errors.Is(err, io.EOF) { // incomplete: it hears so
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
		whole := false
		if input, whole = app.Read(text); !whole {
			continue
		}
		in.remember(strings.TrimSpace(text))
		if words := l.session.Advice(text); words != "" {
			fmt.Fprintln(l.out, words)
			text = ""
			continue
		}
		switch err := l.input(ctx, in, input); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		text = ""
	}
}

// input runs one input; its errors are shown and the session goes on, unless the whole program ends.
func (l *loop) input(ctx context.Context, in reader, input app.Input) (end error) {
	in.running(func() {
		one, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer exit.InterruptsOf(ctx).Take(func() { cancel(exit.ErrInterrupted) })()
		renewed, err := l.session.Run(one, input)
		var ended *app.ExitError
		switch {
		case ctx.Err() != nil:
			end = context.Cause(ctx)
		case errors.As(err, &ended):
			end = ended
		case err != nil:
			l.report(one, err)
		case renewed:
			end = io.EOF // the script ended itself, with code 0
		}
		if renewed && end == nil {
			fmt.Fprintln(l.err, "the session begins anew: its globals are gone")
		}
	})
	return end
}

func (l *loop) report(ctx context.Context, err error) {
	if errors.Is(context.Cause(ctx), exit.ErrInterrupted) {
		fmt.Fprintln(l.err, "interrupted")
		return
	}
	_, _ = io.WriteString(l.err, l.tell(err))
}
