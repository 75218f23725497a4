package gatewaycmd

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostprint"
	"github.com/hukilau/hukilau/go/internal/units"
	"github.com/hukilau/hukilau/go/internal/visible"
)

func listCommand() *cobra.Command {
	var s sources
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list [SOURCE | SPEC...]", Short: "List the sources with how they are, or the functions of one",
		Example: `  luau gateway list
  luau gateway list petstore`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 && isName(args[0]) {
				name, args = args[0], nil
			} else if err := documents(cmd, args); err != nil {
				return err
			}
			return s.with(cmd, args, "error", func(h *hostapp.Host) error {
				g := h.AwaitSources(cmd.Context())
				if name != "" {
					return listFunctions(cmd, h, name, asJSON)
				}
				list := g.Sources()
				if asJSON {
					return hostprint.JSONLines(cmd.OutOrStdout(), list)
				}
				return table(cmd.OutOrStdout(), list)
			})
		},
	}
	s.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

// function is one of a source, as list_functions gives it.
type function struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

func listFunctions(cmd *cobra.Command, h *hostapp.Host, source string, asJSON bool) error {
	all := []function{}
	for cursor := ""; ; {
		args := map[string]any{"api": source}
		if cursor != "" {
			args["cursor"] = cursor
		}
		answer, err := h.CallGateway(cmd.Context(), hostapp.GatewayCall{Tool: "list_functions", Args: args})
		if err != nil {
			return err
		}
		var page struct {
			Functions []function `json:"functions"`
			Next      string     `json:"next_cursor"`
		}
		if err := json.Unmarshal(answer, &page); err != nil {
			return err
		}
		all = append(all, page.Functions...)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if asJSON {
		return hostprint.JSONLines(cmd.OutOrStdout(), all)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, f := range all {
		fmt.Fprintf(w, "sdk.%s\t%s\n", visible.Line(f.Name), visible.Line(f.Description))
	}
	return w.Flush()
}

func table(to io.Writer, list []gateway.SourceInfo) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "NAME\tIN SCRIPTS\tKIND\tSTATE\tFUNCTIONS\tABOUT\n")
	for _, s := range list {
		about := s.Description
		if s.Reason != "" {
			about = s.Reason
		}
		fmt.Fprintf(w, "%s\tsdk.%s\t%s\t%s\t%d\t%s\n", visible.Line(s.Name), visible.Line(s.Ident), s.Kind, s.State, s.Functions, visible.Line(about))
	}
	return w.Flush()
}

func checkCommand() *cobra.Command {
	var s sources
	cmd := &cobra.Command{
		Use: "check [SPEC...]", Short: "Connect to each source, and say what is wrong with it", Args: documents,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.with(cmd, args, "error", func(h *hostapp.Host) error { return check(cmd, h) })
		},
	}
	s.add(cmd)
	return cmd
}

func check(cmd *cobra.Command, h *hostapp.Host) error {
	g := h.AwaitSources(cmd.Context())
	out, colour := cmd.OutOrStdout(), app.Coloured(cmd.OutOrStdout())
	bad := 0
	for _, s := range g.Sources() {
		if s.State != gateway.Healthy {
			bad++
			reason := s.Reason
			if reason == "" {
				reason = "it does not answer"
			}
			fmt.Fprintf(out, "%s: %s: %s\n", visible.Line(s.Name), app.Paint(colour, app.Red, "error"), visible.Message(reason))
		} else {
			fmt.Fprintf(out, "%s: %s, %s\n", visible.Line(s.Name), app.Paint(colour, app.Green, "ok"), units.Counted(s.Functions, "function"))
		}
		for _, note := range s.Notes {
			fmt.Fprintf(out, "  %s\n", visible.Line(note))
		}
	}
	for _, line := range h.GatewayFindings(g) {
		fmt.Fprintf(out, "%s: %s\n", app.Paint(colour, app.Yellow, "warning"), visible.Message(line))
	}
	if bad > 0 {
		return exit.ErrReported
	}
	return nil
}
