package testcmd

import (
	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// legible is a file as reports show it: names, messages and output come from scripts.
func legible(f *app.TestFile) *app.TestFile {
	shown := *f
	shown.Path, shown.Output, shown.Results = visible.Line(f.Path), []byte(visible.Text(string(f.Output))), nil
	for _, r := range f.Results {
		r.Name, r.Message, r.Trace = visible.Line(r.Name), visible.Text(r.Message), visible.Text(r.Trace)
		shown.Results = append(shown.Results, r)
	}
	return &shown
}

func legibleCoverage(files []*app.FileCoverage) (list []*app.FileCoverage) {
	for _, f := range files {
		shown := *f
		shown.Path = visible.Line(f.Path)
		list = append(list, &shown)
	}
	return list
}
