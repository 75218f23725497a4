package logcmd

import (
	"context"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/program"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostprint"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/units"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// printer writes entries, for people or as JSON. Its columns grow with what comes.
type printer struct {
	out    io.Writer
	json   bool
	colour bool
	width  int // of the terminal; 0: there is none
	widths []int
}

func newPrinter(cmd *cobra.Command) *printer {
	p := &printer{out: cmd.OutOrStdout(), json: program.WantsJSON(cmd)}
	p.colour = app.Coloured(p.out)
	if app.Terminal(p.out) {
		p.width = app.Width(p.out, 0)
	}
	return p
}

func (p *printer) all(ctx context.Context, log *store.Log, list []store.Entry) error {
	if p.json {
		return p.lines(ctx, log, list)
	}
	rows := make([][]string, len(list))
	for i := range list {
		rows[i] = columns(&list[i])
		p.measure(rows[i])
	}
	for i := range rows {
		if _, err := io.WriteString(p.out, p.row(rows[i], list[i].Status != store.StatusOK)); err != nil {
			return err
		}
	}
	return nil
}

// The columns of a line.
const (
	columnStatus = 2
	columnTook   = 3
)

func columns(e *store.Entry) []string {
	return []string{
		e.Time.Local().Format(time.DateTime), shortID(e.ID), visible.Line(e.Status), units.ShortDuration(e.Duration),
		visible.Line(e.Tool), visible.Line(callerOf(e)), summary(e),
	}
}

// shortID is the part of an id that tells it from others: of those of one process even within a microsecond.
func shortID(id string) string {
	const enough = 18
	if len(id) != 36 || strings.Count(id, "-") != 4 {
		return visible.Line(id)
	}
	return id[:enough]
}

func callerOf(e *store.Entry) string {
	if e.Caller == "" || e.Caller == e.Face {
		return e.Face
	}
	return e.Face + ":" + e.Caller
}

// mostSummary is how long the last column is where there is no terminal.
const mostSummary = 200

// summary is the error or the arguments, in one line.
func summary(e *store.Entry) string {
	text := e.Arguments.Text
	if e.Error != nil {
		text, _, _ = strings.Cut(e.Error.Message, "\n")
	} else if text == "{}" {
		text = ""
	}
	if e.Error == nil && e.Arguments.Cut() {
		text += "..."
	}
	return hostprint.Cut(visible.Line(text), mostSummary)
}

func (p *printer) measure(row []string) {
	if p.widths == nil {
		p.widths = make([]int, len(row))
	}
	for i, text := range row {
		p.widths[i] = max(p.widths[i], utf8.RuneCountInString(text))
	}
}

// row is a line. Colours come after the texts are as wide as their columns.
func (p *printer) row(row []string, failed bool) string {
	var b strings.Builder
	used := 0
	for i, text := range row[:len(row)-1] {
		pad := strings.Repeat(" ", p.widths[i]-utf8.RuneCountInString(text))
		used += p.widths[i] + 2
		switch {
		case i == columnTook:
			text = pad + text
		case i == columnStatus:
			text = app.Paint(p.colour, statusColour(failed), text) + pad
		default:
			text += pad
		}
		b.WriteString(text + "  ")
	}
	last := row[len(row)-1]
	if p.width > 0 {
		last = hostprint.Cut(last, max(p.width-used, 20))
	}
	return strings.TrimRight(b.String()+app.Paint(p.colour && last != "", app.Dim, last), " ") + "\n"
}

func statusColour(failed bool) string {
	if failed {
		return app.Red
	}
	return app.Green
}
