// Package completioncmd is `luau completion SHELL`: it prints a script that teaches a shell to complete
// the command line.
package completioncmd

import (
	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
)

var shells = []cobra.Completion{"bash", "zsh", "fish"}

// Command makes the command.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script that lets a shell complete commands, flags and files",
		Long: `Prints a script for a shell. To have it in every new one:

  bash   luau completion bash > ~/.local/share/bash-completion/completions/luau
  zsh    luau completion zsh > "${fpath[1]}/_luau"
  fish   luau completion fish > ~/.config/fish/completions/luau.fish`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		ValidArgsFunction: cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("luau completion takes the name of one shell: bash, zsh or fish")
			}
			return write(cmd, args[0])
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usagef("%v", err) })
	return cmd
}

func write(cmd *cobra.Command, shell string) error {
	root, out := cmd.Root(), cmd.OutOrStdout()
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(out, true)
	case "zsh":
		return root.GenZshCompletion(out)
	case "fish":
		return root.GenFishCompletion(out, true)
	}
	return exit.Usagef("luau completion: no script for %q; there are bash, zsh and fish", shell)
}
