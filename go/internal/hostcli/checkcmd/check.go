// Package checkcmd is `luau check`: it type-checks scripts without running them.
package checkcmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostprint"
	"github.com/hukilau/hukilau/go/internal/units"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// Command makes the command.
func Command() *cobra.Command {
	var o hostapp.FileCheck
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [PATHS]",
		Short: "Type-check scripts without running them",
		Long: `Type-checks files, and the *.luau files of folders, by default of the working directory. Types are inferred strictly, unless a
file begins with --!nonstrict or --!nocheck. Modules that are required are followed; the libraries have their types.
Ends with 1 where anything was found.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Paths = args
			o.Warn = func(message string) { app.Warn(cmd.ErrOrStderr(), message) }
			report, err := hostapp.CheckFiles(cmd.Context(), o)
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(cmd, report)
			} else {
				err = print(cmd, report)
			}
			if err == nil && len(report.Findings) > 0 {
				return exit.ErrReported
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.Libs, "lib", nil, "`folder` with modules that are required by their bare names; may be repeated")
	flags.StringArrayVar(&o.Declared, "definitions", nil, "`file` that declares further globals, as `luau gateway generate` writes it; may be repeated")
	flags.StringVar(&o.Config, "config", "", "configuration `file` whose sources are connected to, and typed in scripts of its gateway; none when left out")
	flags.BoolVar(&o.Nonstrict, "nonstrict", false, "infer types less strictly in files that say nothing themselves")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object in place of lines")
	return cmd
}

func print(cmd *cobra.Command, report hostapp.FileReport) error {
	out, colour := cmd.OutOrStdout(), app.Coloured(cmd.OutOrStdout())
	for _, f := range report.Findings {
		place := fmt.Sprintf("%s:%d:%d", f.Path, f.Line, f.Column)
		if _, err := fmt.Fprintf(out, "%s: %s\n", app.Paint(colour, app.Dim, visible.Line(place)), visible.Message(f.Text())); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s, %s\n", units.Counted(report.Files, "file"), units.Counted(len(report.Findings), "finding"))
	return err
}

func printJSON(cmd *cobra.Command, report hostapp.FileReport) error {
	if report.Findings == nil {
		report.Findings = []hostapp.FileFinding{}
	}
	return hostprint.JSONLine(cmd.OutOrStdout(), map[string]any{"files": report.Files, "findings": report.Findings})
}
