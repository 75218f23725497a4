package logcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/program"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostflags"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostprint"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/units"
	"github.com/hukilau/hukilau/go/internal/visible"
)

func showCommand() *cobra.Command {
	var flags hostflags.Flags
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show one call whole", Args: exit.OneArg("the id of a call, or the beginning of one"),
		Long: `Shows one call: its arguments, the result or the error with all detail, what it asked of the host, tokens, and the
calls that it made. The beginning of an id is enough where no other begins so.`,
		RunE: func(cmd *cobra.Command, args []string) error { return showOne(cmd, &flags, args[0]) },
	}
	flags.AddState(cmd)
	cmd.Flags().Bool(program.JSONFlag, false, "as one JSON object")
	return cmd
}

func showOne(cmd *cobra.Command, flags *hostflags.Flags, id string) error {
	project, err := hostapp.Locate(flags.Options(cmd, "warn"))
	if err != nil {
		return err
	}
	s, err := project.OpenStore(cmd.Context())
	if err != nil {
		return err
	}
	return errors.Join(show(cmd.Context(), s.Log, id, newPrinter(cmd)), s.Close())
}

func show(ctx context.Context, log *store.Log, id string, p *printer) error {
	e, err := log.Find(ctx, id)
	if err != nil {
		return err
	}
	children, err := log.Children(ctx, e.ID)
	if err != nil {
		return err
	}
	if p.json {
		l := lineOf(&e)
		for i := range children {
			l.Children = append(l.Children, children[i].ID)
		}
		return hostprint.JSONLine(p.out, l)
	}
	_, err = fmt.Fprint(p.out, p.facts(&e)+p.outcome(&e)+p.hostCalls(&e)+p.children(children))
	return err
}

// facts are what stands above: one line each.
func (p *printer) facts(e *store.Entry) string {
	var b strings.Builder
	fact := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s %s\n", app.Paint(p.colour, app.Dim, fmt.Sprintf("%-8s", name)), text)
		}
	}
	fact("id", visible.Line(e.ID))
	fact("tool", visible.Line(e.Tool))
	fact("status", app.Paint(p.colour, statusColour(e.Status != store.StatusOK), visible.Line(e.Status)))
	fact("began", e.Time.Local().Format("2006-01-02 15:04:05.000 -07:00"))
	fact("took", units.ShortDuration(e.Duration))
	fact("caller", visible.Line(callerOf(e)))
	fact("parent", visible.Line(e.Parent))
	fact("version", visible.Line(e.Version))
	if e.TokensIn+e.TokensOut > 0 {
		fact("tokens", fmt.Sprintf("%d in, %d out", e.TokensIn, e.TokensOut))
	}
	return b.String()
}

func (p *printer) section(name, text string) string {
	return "\n" + app.Paint(p.colour, app.Bold, name) + "\n" + hostprint.Indented(text)
}

func (p *printer) outcome(e *store.Entry) string {
	text := p.section("arguments", payload(e.Arguments))
	if f := e.Error; f != nil {
		detail := strings.TrimPrefix(f.Detail, f.Message)
		return text + p.section("error", app.Paint(p.colour, app.Red, visible.Line(f.Code))+": "+visible.Text(f.Message+detail))
	}
	return text + p.section("result", payload(e.Result))
}

// payload is JSON as people read it, where it is whole.
func payload(j store.Payload) string {
	if j.Cut() {
		return visible.Text(j.Text) + fmt.Sprintf("\n... (the first %d of %d bytes; the log keeps no more)", len(j.Text), j.Size)
	}
	return hostprint.Pretty(j.Text)
}

func (p *printer) hostCalls(e *store.Entry) string {
	if len(e.HostCalls) == 0 {
		return ""
	}
	var b strings.Builder
	for _, c := range e.HostCalls {
		fmt.Fprintf(&b, "%9s  %s", units.ShortDuration(c.Duration), visible.Line(strings.TrimSpace(c.Name+" "+c.Target)))
		if c.Error != "" {
			b.WriteString("  " + app.Paint(p.colour, app.Red, hostprint.Cut(visible.Line(c.Error), mostSummary)))
		}
		b.WriteByte('\n')
	}
	if e.HostCallsDropped > 0 {
		fmt.Fprintf(&b, "and %s more\n", units.Counted(e.HostCallsDropped, "call"))
	}
	return p.section("host calls", b.String())
}

func (p *printer) children(list []store.Entry) string {
	if len(list) == 0 {
		return ""
	}
	rows := &printer{colour: p.colour, width: max(p.width-2, 0)}
	var b strings.Builder
	for i := range list {
		rows.measure(columns(&list[i]))
	}
	for i := range list {
		b.WriteString(rows.row(columns(&list[i]), list[i].Status != store.StatusOK))
	}
	return p.section("calls", b.String())
}
