package gatewaycmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// execution is how a script is run from the command line.
type execution struct {
	code    string
	dry     bool
	answers string
	timeout time.Duration
	whole   bool
	print   bool
}

func execCommand() *cobra.Command {
	var s sources
	var e execution
	cmd := &cobra.Command{
		Use: "exec [SCRIPT]", Short: "Run a script as a model's would be run, and print its result",
		Long: `Runs a script that calls functions of the sources. Its result goes to standard output as JSON, what it prints and
what the type checker warns of to standard error. SCRIPT - is standard input.`,
		Example: `  luau gateway exec -e 'return sdk.petstore.get_pet{ id = 1 }'
  luau gateway exec report.luau --dry-run`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			script, err := e.script(cmd, args)
			if err != nil {
				return err
			}
			return s.with(cmd, nil, "warn", func(h *hostapp.Host) error { return e.run(cmd, h, script) })
		},
	}
	s.add(cmd)
	f := cmd.Flags()
	f.StringVarP(&e.code, "code", "e", "", "the script itself, as `text`")
	f.BoolVar(&e.dry, "dry-run", false, "call no source: list the calls that would be made, with answers of --answers or of the right type")
	f.StringVar(&e.answers, "answers", "", "a JSON `file` for --dry-run, as {\"github.list_issues\": [...]}")
	f.DurationVar(&e.timeout, "timeout", 0, "how `long` the script may take, if less than [gateway] timeout says")
	f.BoolVar(&e.print, "print", false, "print to standard output what the script prints, and a result where there is one")
	f.BoolVar(&e.whole, "json", false, "print all that a model gets: result, logs and files")
	return cmd
}

func (e *execution) script(cmd *cobra.Command, args []string) (string, error) {
	switch {
	case e.code != "" && len(args) > 0:
		return "", exit.Usagef("give a script or --code, not both")
	case e.answers != "" && !e.dry:
		return "", exit.Usagef("--answers are for --dry-run")
	case e.code != "":
		return e.code, nil
	case len(args) == 0:
		return "", exit.Usagef("give the path of a script, - for standard input, or --code")
	}
	return hostapp.ReadScript(args[0], cmd.InOrStdin())
}

func (e *execution) run(cmd *cobra.Command, h *hostapp.Host, script string) error {
	ctx := cmd.Context()
	calls := func() []gateway.DryCall { return nil }
	if e.dry {
		answers := map[string]any{}
		if e.answers != "" {
			var err error
			if answers, err = hostapp.ReadFakes(e.answers); err != nil {
				return err
			}
		}
		ctx, calls = hostapp.DryRun(ctx, answers)
	}
	args := map[string]any{"script": script}
	if e.timeout > 0 {
		args["timeout_ms"] = float64(e.timeout.Milliseconds())
	}
	answer, err := h.CallGateway(ctx, hostapp.GatewayCall{Tool: "execute_script", Args: args, Told: cmd.ErrOrStderr()})
	for _, call := range calls() {
		text, _ := json.Marshal(call) // strings and JSON trees
		fmt.Fprintf(cmd.ErrOrStderr(), "call: %s\n", visible.Line(string(text)))
	}
	if err != nil {
		return err
	}
	if e.whole {
		return indented(cmd, answer)
	}
	var told hostapp.ScriptResult
	if err := json.Unmarshal(answer, &told); err != nil {
		return err
	}
	logs := cmd.ErrOrStderr()
	if e.print {
		logs = cmd.OutOrStdout()
	}
	for _, line := range told.Logs {
		fmt.Fprintln(logs, visible.Text(line))
	}
	for _, line := range told.Warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", visible.Message(line))
	}
	if e.print && string(told.Result) == "null" {
		return nil
	}
	return indented(cmd, told.Result)
}

func indented(cmd *cobra.Command, text []byte) error {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), out.String())
	return err
}
