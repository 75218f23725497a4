package testcmd

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/app"
)

// summary counts tests.
type summary struct{ passed, failed, skipped int }

func (s *summary) add(f *app.TestFile) {
	s.passed += f.Count(app.TestPassed)
	s.failed += f.Count(app.TestFailed)
	s.skipped += f.Count(app.TestSkipped)
}

func (s *summary) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", s.passed, s.failed, s.skipped)
}

// reporter writes what became of the files.
type reporter interface {
	file(f *app.TestFile)
	coverage(files []*app.FileCoverage, path string)
	end(s *summary) error
}

// newReporter makes the one that --reporter names; nil for an unknown name.
func newReporter(f *flags, out, errs io.Writer) reporter {
	w := &checkedWriter{w: out}
	switch f.reporter {
	case "pretty":
		return &pretty{w: w, verbose: f.verbose, colour: app.Coloured(out)}
	case "tap":
		return &tap{w: w}
	case "junit":
		return &junit{w: w, errs: errs}
	}
	return nil
}

// checkedWriter remembers the first failure.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (w *checkedWriter) Write(text []byte) (int, error) {
	if w.err == nil {
		_, w.err = w.w.Write(text)
	}
	return len(text), nil
}

// pretty is for people.
type pretty struct {
	w       *checkedWriter
	verbose bool
	colour  bool
}

func (p *pretty) word(status string) string {
	return map[string]string{
		"passed": app.Paint(p.colour, app.Green, "ok  "), "failed": app.Paint(p.colour, app.Red, "FAIL"), "skipped": app.Paint(p.colour, app.Yellow, "skip"),
	}[status]
}

func (p *pretty) file(f *app.TestFile) {
	failed := f.Count(app.TestFailed)
	word := p.word("passed")
	switch {
	case failed > 0:
		word = p.word("failed")
	case f.Count(app.TestSkipped) == len(f.Results):
		word = p.word("skipped")
	}
	fmt.Fprintf(p.w, "%s %s (%s)\n", word, f.Path, rounded(f.Time))
	for _, r := range f.Results {
		// A plain script is the file's own line already.
		if r.Status == app.TestFailed || p.verbose && r.Name != f.Path {
			p.result(f, r)
		}
	}
	if len(f.Output) > 0 && (failed > 0 || p.verbose) {
		fmt.Fprintf(p.w, "  %s\n%s", app.Paint(p.colour, app.Dim, "output:"), indented(string(f.Output), "  | "))
	}
}

func (p *pretty) result(f *app.TestFile, r app.TestResult) {
	if r.Name != f.Path {
		fmt.Fprintf(p.w, "  %s %s\n", p.word(string(r.Status)), r.Name)
	}
	fmt.Fprint(p.w, indented(r.Message, "    "), indented(r.Trace, "      "))
}

func (p *pretty) coverage(files []*app.FileCoverage, path string) {
	width := len("all")
	for _, f := range files {
		width = max(width, len(f.Path))
	}
	lines, ran := 0, 0
	row := func(name string, lines any, covered, missed string) {
		text := fmt.Sprintf("%-*s  %7v  %7s  %s", width, name, lines, covered, missed)
		fmt.Fprintln(p.w, strings.TrimRight(text, " "))
	}
	fmt.Fprintln(p.w)
	row("file", "lines", "covered", "not reached")
	for _, f := range files {
		lines, ran = lines+len(f.Lines), ran+f.Covered()
		row(f.Path, len(f.Lines), percent(f.Covered(), len(f.Lines)), missed(f))
	}
	row("all", lines, percent(ran, lines), "")
	fmt.Fprintf(p.w, "coverage for lcov is in %s\n\n", path)
}

// mostRanges is how many ranges of lines are shown of a file.
const mostRanges = 10

// missed are the lines of a file that did not run, as 3-5,9.
func missed(f *app.FileCoverage) string {
	ranges := f.Missed()
	var parts []string
	for _, r := range ranges[:min(len(ranges), mostRanges)] {
		part := strconv.Itoa(r.First)
		if r.Last > r.First {
			part += "-" + strconv.Itoa(r.Last)
		}
		parts = append(parts, part)
	}
	text := strings.Join(parts, ",")
	if more := len(ranges) - mostRanges; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}

func (p *pretty) end(s *summary) error {
	fmt.Fprintln(p.w, s)
	return p.w.err
}

// indented puts prefix before each line; nothing stays nothing.
func indented(text, prefix string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(prefix + line)
		if !strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func rounded(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(10 * time.Millisecond)
}
