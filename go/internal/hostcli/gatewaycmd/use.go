package gatewaycmd

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/units"
	"github.com/hukilau/hukilau/go/internal/visible"
)

func searchCommand() *cobra.Command {
	var s sources
	var tokens int
	cmd := &cobra.Command{
		Use: "search QUERY...", Short: "Find functions for a task, as a model does", Args: cobra.MinimumNArgs(1),
		Example: `  luau gateway search create an issue`,
		RunE: func(cmd *cobra.Command, args []string) error {
			query := map[string]any{"query": strings.Join(args, " ")}
			if tokens > 0 {
				query["max_tokens"] = float64(tokens)
			}
			return s.text(cmd, "search_docs", query)
		},
	}
	s.add(cmd)
	cmd.Flags().IntVar(&tokens, "max-tokens", 0, "about how many `tokens` to print; 2000 when left out")
	return cmd
}

func docsCommand() *cobra.Command {
	var s sources
	cmd := &cobra.Command{
		Use: "docs NAME...", Short: "Print the signature of functions with all their types", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := s.text(cmd, "get_function_docs", map[string]any{"name": strings.Join(args, ",")})
			if err != nil {
				return app.WithHint(err, "luau gateway list SOURCE lists the functions of a source, luau gateway search WORDS finds some")
			}
			return nil
		},
	}
	s.add(cmd)
	return cmd
}

// text prints the text that a tool gives.
func (s *sources) text(cmd *cobra.Command, tool string, args map[string]any) error {
	return s.with(cmd, nil, "error", func(h *hostapp.Host) error {
		h.AwaitSources(cmd.Context())
		answer, err := h.CallGateway(cmd.Context(), hostapp.GatewayCall{Tool: tool, Args: args})
		if err != nil {
			return err
		}
		var text string
		if err := json.Unmarshal(answer, &text); err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), visible.Text(strings.TrimSuffix(text, "\n")))
		return err
	})
}

func callCommand() *cobra.Command {
	var s sources
	var params []string
	var object string
	cmd := &cobra.Command{
		Use: "call NAME", Short: "Call one function and print what it gives", Args: exit.OneArg("the name of a function, as github.create_issue"),
		Example: `  luau gateway call petstore.get_pet -p id=1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.with(cmd, nil, "warn", func(h *hostapp.Host) error {
				result, err := h.CallFunction(cmd.Context(), args[0], params, object, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), result.Text)
				return err
			})
		},
	}
	s.add(cmd)
	cmd.Flags().StringArrayVarP(&params, "param", "p", nil, "an argument, `name=value`, read by the parameter's type; may be repeated")
	cmd.Flags().StringVar(&object, "json", "", "arguments as a JSON `object`")
	return cmd
}

func generateCommand() *cobra.Command {
	var s sources
	cmd := &cobra.Command{
		Use: "generate DIR", Short: "Write the types of all functions for editors", Args: exit.OneArg("the folder for the files"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.with(cmd, nil, "error", func(h *hostapp.Host) error {
				written, err := h.Generate(cmd.Context(), args[0])
				for _, name := range written {
					fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", visible.Line(name))
				}
				if err == nil {
					fmt.Fprintf(cmd.OutOrStdout(), "%s written\n", units.Counted(len(written), "file"))
				}
				return err
			})
		},
	}
	s.add(cmd)
	return cmd
}
