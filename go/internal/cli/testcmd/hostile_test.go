package testcmd

import (
	"bytes"
	"encoding/xml"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/hukilau/hukilau/go/internal/app"
)

// hostileTexts are what scripts may bring into a report.
var hostileTexts = []string{
	"\x1b]0;t\x07\r\x00\x7f\u009b\u0085\u202e\u2028\ufeff\uffff\xff",
	"a\nok 7 - fake\n1..0\nBail out!\n...\n---\n# x",
	"  begins with spaces\nand goes on", "\n\nthird line\n", "", "\ttab", " ", "key: {", "a\r\nb\rc", "]]></failure>",
}

func hostileFile(text string) *app.TestFile {
	return &app.TestFile{Path: "tests/" + text, Output: []byte(text), Results: []app.TestResult{
		{Name: text, Status: app.TestFailed, Message: text, Trace: text},
		{Name: text, Status: app.TestPassed}, {Name: text, Status: app.TestSkipped},
	}}
}

// report is what a reporter writes of files with these texts.
func report(t *testing.T, name string, texts ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	r, sum := newReporter(&flags{reporter: name, verbose: true}, &out, &errs), &summary{}
	var covered []*app.FileCoverage
	for _, text := range texts {
		file := hostileFile(text)
		sum.add(file)
		r.file(legible(file))
		covered = append(covered, &app.FileCoverage{Path: text, Lines: map[int]int{1: 1}})
	}
	r.coverage(legibleCoverage(covered), "coverage.lcov")
	require.NoError(t, r.end(sum))
	return out.String()
}

func TestReportsHaveNothingHidden(t *testing.T) {
	for _, name := range []string{"pretty", "tap", "junit"} {
		out := report(t, name, hostileTexts...)
		require.True(t, utf8.ValidString(out))
		for _, r := range out {
			require.True(t, r == '\n' || r == '\t' || unicode.IsGraphic(r), "%s: %q", name, r)
		}
		require.Contains(t, out, `\x1b]0;t\x07`)
		require.Contains(t, out, `\u{202e}`)
		require.Contains(t, out, `\xff`)
	}
}

// A stream in which texts are data has one line for each test, YAML that reads as it was written, and else
// comments only.
func TestTAPOfHostileTexts(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(report(t, "tap", hostileTexts...), "\n"), "\n")
	require.Equal(t, "TAP version 14", lines[0])
	point := regexp.MustCompile(`^(not )?ok \d+ - ([^#\\]|\\[\\#])*( # SKIP)?$`)
	points, plans := 0, 0
	var blocks []string
	for i := 1; i < len(lines); i++ {
		switch line := lines[i]; {
		case point.MatchString(line):
			points++
		case line == "  ---":
			block := ""
			for i++; lines[i] != "  ..."; i++ {
				block += strings.TrimPrefix(lines[i], "  ") + "\n"
			}
			blocks = append(blocks, block)
		case line == "1..30":
			plans++
		default:
			require.True(t, strings.HasPrefix(line, "# "), "%q", line)
		}
	}
	require.Equal(t, 3*len(hostileTexts), points)
	require.Equal(t, 1, plans)
	require.Len(t, blocks, len(hostileTexts))
	for i, block := range blocks {
		var read struct{ Message, Trace string }
		require.NoError(t, yaml.Unmarshal([]byte(block), &read), "%s", block)
		want := legible(hostileFile(hostileTexts[i])).Results[0]
		require.Equal(t, strings.TrimRight(want.Message, "\n"), read.Message)
		require.Equal(t, strings.TrimRight(want.Trace, "\n"), read.Trace)
	}
}

func TestJUnitOfHostileTexts(t *testing.T) {
	var read junitSuites
	require.NoError(t, xml.Unmarshal([]byte(report(t, "junit", hostileTexts...)), &read))
	require.Len(t, read.Suites, len(hostileTexts))
	for i, suite := range read.Suites {
		want := legible(hostileFile(hostileTexts[i]))
		require.Equal(t, want.Path, suite.Name)
		require.Equal(t, string(want.Output), suite.Output)
		require.Equal(t, want.Results[0].Message+"\n"+want.Results[0].Trace, suite.Cases[0].Failure.Text)
		require.Equal(t, want.Results[0].Name, suite.Cases[0].Name)
	}
}
