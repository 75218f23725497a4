// Package hostflags has the flags that say which project a command is about.
package hostflags

import (
	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/hostapp"
)

// Flags are those of one command.
type Flags struct {
	config string
	tools  []string
	level  string
	format string
}

// Add adds all flags, for commands that run tools.
func (f *Flags) Add(cmd *cobra.Command) {
	f.AddTools(cmd)
	f.AddLog(cmd)
}

// AddLog adds the flags about log records.
func (f *Flags) AddLog(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.level, "log-level", "", "least `level` of log records: debug, info, warn or error")
	flags.StringVar(&f.format, "log-format", "", "`format` of log records: text or json")
}

// AddTools adds the flags that say which tools there are, for commands that run none.
func (f *Flags) AddTools(cmd *cobra.Command) {
	f.AddConfig(cmd)
	cmd.Flags().StringArrayVar(&f.tools, "tools", nil, "`path` of a tool or of a folder with tools, in place of those of the configuration; may be repeated")
}

// AddState adds the flags that say whose state it is, for commands that look at what servers keep.
func (f *Flags) AddState(cmd *cobra.Command) {
	f.AddConfig(cmd)
	cmd.Flags().StringArrayVar(&f.tools, "tools", nil, "`path` that a server without a configuration was given: its state is beside it")
}

// AddConfig adds the flag that names the configuration alone, for commands that need no tools.
func (f *Flags) AddConfig(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "config", "", "configuration `file`; hukilau.toml here or in a folder above when left out")
}

// Options are what the flags say. quiet is the level where neither a flag nor the configuration says one.
func (f *Flags) Options(cmd *cobra.Command, quiet string) hostapp.Options {
	return hostapp.Options{
		ConfigFile: f.config, Tools: f.tools, Stderr: cmd.ErrOrStderr(), LogLevel: f.level, LogFormat: f.format, QuietLevel: quiet,
	}
}

// Lenient are the same for commands that may go on without variables that the configuration names.
func (f *Flags) Lenient(cmd *cobra.Command, quiet string, rule hostapp.UnsetRule) hostapp.Options {
	o := f.Options(cmd, quiet)
	o.Unset = rule
	return o
}
