package testcmd

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/hukilau/hukilau/go/internal/app"
)

// tap writes the Test Anything Protocol, version 14.
type tap struct {
	w     *checkedWriter
	count int
}

func (t *tap) file(f *app.TestFile) {
	for _, r := range f.Results {
		t.begin()
		t.count++
		name := tapName(f, r)
		switch r.Status {
		case app.TestPassed:
			fmt.Fprintf(t.w, "ok %d - %s\n", t.count, name)
		case app.TestSkipped:
			fmt.Fprintf(t.w, "ok %d - %s # SKIP\n", t.count, name)
		default:
			fmt.Fprintf(t.w, "not ok %d - %s\n  ---\n%s", t.count, name, yamlText("message", r.Message))
			if r.Trace != "" {
				fmt.Fprint(t.w, yamlText("trace", r.Trace))
			}
			fmt.Fprint(t.w, "  ...\n")
		}
	}
	if f.Count(app.TestFailed) > 0 {
		fmt.Fprint(t.w, indented(string(f.Output), "# "))
	}
}

// yamlText is an entry of the YAML block of a test. A text that begins with space says how far it is indented,
// which else its first line does.
func yamlText(key, text string) string {
	mark := "|-"
	if strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\n") {
		mark = "|2-"
	}
	return fmt.Sprintf("  %s: %s\n%s", key, mark, indented(text, "    "))
}

func (t *tap) begin() {
	if t.count == 0 {
		fmt.Fprintln(t.w, "TAP version 14")
	}
}

var tapEscapes = strings.NewReplacer("\\", "\\\\", "#", "\\#")

func tapName(f *app.TestFile, r app.TestResult) string {
	name := r.Name
	if name != f.Path {
		name = f.Path + " > " + name
	}
	return tapEscapes.Replace(name)
}

func (t *tap) coverage(files []*app.FileCoverage, path string) {
	t.begin()
	for _, f := range files {
		line := fmt.Sprintf("# coverage %s %s", f.Path, percent(f.Covered(), len(f.Lines)))
		if lines := missed(f); lines != "" {
			line += ", not reached " + lines
		}
		fmt.Fprintln(t.w, line)
	}
	fmt.Fprintf(t.w, "# coverage for lcov is in %s\n", path)
}

func (t *tap) end(s *summary) error {
	t.begin()
	fmt.Fprintf(t.w, "1..%d\n# %s\n", t.count, s)
	return t.w.err
}

// junit writes the XML that CI systems read. The counts go to standard error.
type junit struct {
	w    *checkedWriter
	errs io.Writer
	xml  junitSuites
}

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
	Output   string      `xml:"system-out,omitempty"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Skipped *struct{}     `xml:"skipped,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (j *junit) file(f *app.TestFile) {
	suite := junitSuite{
		Name: f.Path, Tests: len(f.Results), Failures: f.Count(app.TestFailed), Skipped: f.Count(app.TestSkipped),
		Time: fmt.Sprintf("%.6f", f.Time.Seconds()), Output: string(f.Output),
	}
	for _, r := range f.Results {
		one := junitCase{Class: f.Path, Name: r.Name, Time: fmt.Sprintf("%.6f", r.Seconds)}
		switch r.Status {
		case app.TestFailed:
			first, _, _ := strings.Cut(r.Message, "\n")
			one.Failure = &junitFailure{first, r.Message + "\n" + r.Trace}
		case app.TestSkipped:
			one.Skipped = &struct{}{}
		}
		suite.Cases = append(suite.Cases, one)
	}
	j.xml.Suites = append(j.xml.Suites, suite)
}

func (j *junit) coverage(_ []*app.FileCoverage, path string) {
	fmt.Fprintf(j.errs, "coverage for lcov is in %s\n", path)
}

func (j *junit) end(s *summary) error {
	data, err := xml.MarshalIndent(j.xml, "", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(j.w, "%s%s\n", xml.Header, data)
	fmt.Fprintln(j.errs, s)
	return j.w.err
}
