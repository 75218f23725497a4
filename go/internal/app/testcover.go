package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/hukilau/hukilau/go/internal/visible"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// FileCoverage says which lines of one file ran.
type FileCoverage struct {
	Path      string
	Lines     map[int]int // by number: how often the line ran
	Functions []CoveredFunction
}

// CoveredFunction is one named function of a file.
type CoveredFunction struct {
	Name string
	Line int
	Hits int // of its first line with code
}

// Covered gives how many of its lines ran.
func (f *FileCoverage) Covered() int {
	n := 0
	for _, hits := range f.Lines {
		if hits > 0 {
			n++
		}
	}
	return n
}

// LineRange is of lines from First to Last, both included.
type LineRange struct{ First, Last int }

// Missed gives the lines that did not run. Lines without code do not end a range.
func (f *FileCoverage) Missed() (ranges []LineRange) {
	open := false
	for _, line := range slices.Sorted(maps.Keys(f.Lines)) {
		missed := f.Lines[line] == 0
		switch {
		case missed && open:
			ranges[len(ranges)-1].Last = line
		case missed:
			ranges = append(ranges, LineRange{line, line})
		}
		open = missed
	}
	return ranges
}

// addChunk adds what ran of one chunk, which may be loaded more than once.
func addChunk(files map[string]*FileCoverage, path string, functions []luau.FunctionCoverage) {
	one := &FileCoverage{Path: path, Lines: map[int]int{}}
	for _, f := range functions {
		first := -1
		for i, hits := range f.Hits {
			if hits < 0 {
				continue
			}
			if first < 0 {
				first = hits
			}
			// A line that holds code of two functions ran as often as the busier one.
			if old, known := one.Lines[i+1]; !known || hits > old {
				one.Lines[i+1] = hits
			}
		}
		if f.Name != "" {
			one.Functions = append(one.Functions, CoveredFunction{f.Name, f.Line, max(0, first)})
		}
	}
	merge(files, one)
}

func merge(files map[string]*FileCoverage, more *FileCoverage) {
	old := files[more.Path]
	if old == nil {
		files[more.Path] = more
		return
	}
	for line, hits := range more.Lines {
		old.Lines[line] += hits
	}
	if len(old.Functions) != len(more.Functions) {
		return // the file changed in between
	}
	for i := range old.Functions {
		old.Functions[i].Hits += more.Functions[i].Hits
	}
}

// coverage is that of all files of a run.
type coverage struct{ files map[string]*FileCoverage }

func newCoverage() *coverage { return &coverage{map[string]*FileCoverage{}} }

func (c *coverage) add(files map[string]*FileCoverage) {
	for _, f := range files {
		merge(c.files, f)
	}
}

// list gives the files in order, without the tests themselves.
func (c *coverage) list(tests []string) []*FileCoverage {
	var out []*FileCoverage
	for _, path := range slices.Sorted(maps.Keys(c.files)) {
		if !slices.Contains(tests, path) {
			out = append(out, c.files[path])
		}
	}
	return out
}

// SaveLCOV writes coverage into a file: see WriteLCOV.
func SaveLCOV(path string, files []*FileCoverage) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("cannot write the coverage: %w", err)
	}
	if err := errors.Join(WriteLCOV(f, files), f.Close()); err != nil {
		return fmt.Errorf("cannot write the coverage: %w", err)
	}
	return nil
}

// WriteLCOV writes coverage in the format of lcov's tracefiles. That has no escapes of its own, so a name with a
// line end in it is written as people see it.
func WriteLCOV(w io.Writer, files []*FileCoverage) error {
	b := bufio.NewWriter(w)
	for _, f := range files {
		fmt.Fprintf(b, "TN:\nSF:%s\n", visible.Line(f.Path))
		ran := 0
		for _, fn := range f.Functions {
			fmt.Fprintf(b, "FN:%d,%s\n", fn.Line, visible.Line(fn.Name))
		}
		for _, fn := range f.Functions {
			fmt.Fprintf(b, "FNDA:%d,%s\n", fn.Hits, visible.Line(fn.Name))
			if fn.Hits > 0 {
				ran++
			}
		}
		fmt.Fprintf(b, "FNF:%d\nFNH:%d\n", len(f.Functions), ran)
		for _, line := range slices.Sorted(maps.Keys(f.Lines)) {
			fmt.Fprintf(b, "DA:%d,%d\n", line, f.Lines[line])
		}
		fmt.Fprintf(b, "LF:%d\nLH:%d\nend_of_record\n", len(f.Lines), f.Covered())
	}
	return b.Flush()
}
