package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hukilau/hukilau/go/internal/cli"
	"github.com/hukilau/hukilau/go/internal/hostcli"
)

// wholeRoot is the command as users see it: with the verbs of luau-host where luau only hands over.
func wholeRoot() *cobra.Command {
	root, host := cli.Root(), hostcli.Root()
	for _, verb := range host.Commands() {
		if here, _, err := root.Find([]string{verb.Name()}); err == nil && here != root {
			root.RemoveCommand(here)
		}
		host.RemoveCommand(verb)
		root.AddCommand(verb)
	}
	return root
}

// commands is the page of the command line, made of the help texts.
func commands(root *cobra.Command) []byte {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var p page
	p.title("Command line", "the help texts of the command")
	p.paragraph("`luau --help` lists the verbs, `luau help VERB` shows one.")
	p.WriteString("\n| | |\n|---|---|\n")
	list := verbs(root)
	for _, cmd := range list {
		fmt.Fprintf(&p, "| [%s](#%s) | %s |\n", cmd.CommandPath(), anchor(cmd.CommandPath()), cell(cmd.Short))
	}
	for _, cmd := range list {
		p.verb(cmd)
	}
	return []byte(p.String())
}

// verbs are a command and those below it, as help lists them.
func verbs(cmd *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			list = append(list, verbs(sub)...)
		}
	}
	return list
}

func (p *page) verb(cmd *cobra.Command) {
	p.heading(2, cmd.CommandPath())
	p.code("text", cmd.UseLine())
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	for _, block := range helpBlocks(about) {
		if strings.HasPrefix(block, "\t") {
			p.code("text", strings.ReplaceAll(strings.TrimPrefix(block, "\t"), "\n\t", "\n"))
			continue
		}
		p.paragraph(escaped(block))
	}
	if cmd.Example != "" {
		p.code("text", strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n"))
	}
	p.flags(cmd.NonInheritedFlags())
}

// helpBlocks are the paragraphs of a help text, each in one line, and its commands, indented.
func helpBlocks(text string) []string {
	var blocks []string
	for _, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		part = strings.Trim(part, "\n")
		if !strings.HasPrefix(part, "\t") {
			part = strings.Join(strings.Fields(strings.TrimLeft(part, "#")), " ") // cobra has headings
		}
		blocks = append(blocks, part)
	}
	return slices.DeleteFunc(blocks, func(s string) bool { return s == "" })
}

func (p *page) flags(set *pflag.FlagSet) {
	if !set.HasAvailableFlags() {
		return
	}
	p.WriteString("\n| flag | |\n|---|---|\n")
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if value != "" {
			name += " " + value
		}
		fmt.Fprintf(p, "| `%s` | %s%s |\n", name, cell(usage), cell(shownDefault(f)))
	})
}

// shownDefault is the default of a flag where help shows it.
func shownDefault(f *pflag.Flag) string {
	if slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
		return ""
	}
	if f.Value.Type() == "string" {
		return fmt.Sprintf(" (default %q)", f.DefValue)
	}
	return fmt.Sprintf(" (default %s)", f.DefValue)
}
