// Package doccmd is `luau doc [MODULE[.NAME]]`: it shows the documentation of modules.
package doccmd

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/luaudoc"
	"github.com/hukilau/hukilau/go/internal/visible"
)

const long = `Shows what a module says about itself: its comment, the signatures of its functions with the comments
above them, its exported types. A module is named as for require: a library by its name, a file beside the
working directory as ./file or ./file.luau. A name behind a dot is a function, a value, a type or a field of
the module. A name that no module has is looked for in all of them, whatever its case: one that has it is
shown, several are listed. __native has the functions of the host. Without a name it lists the modules of the
SDK.`

const examples = `  luau doc
  luau doc http
  luau doc http.get
  luau doc sleep
  luau doc haivivi/http
  luau doc regex.Pattern.replace
  luau doc ./my/module
  luau doc __native.fs`

// Command makes the command.
func Command() *cobra.Command {
	var folders []string
	cmd := &cobra.Command{
		Use:     "doc [flags] [MODULE[.NAME]]",
		Short:   "Show the documentation of a module or function",
		Long:    long,
		Example: examples,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exit.Usagef("luau doc takes one name, got %d; a member is named as MODULE.NAME", len(args))
			}
			return run(cmd, folders, args)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			return complete(folders, args, word)
		},
	}
	cmd.Flags().StringArrayVar(&folders, "lib", nil, "a `folder` of modules, before those of LUAU_PATH; may be repeated")
	return cmd
}

func run(cmd *cobra.Command, folders, args []string) error {
	docs, err := app.NewDocs(folders)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	p := &page{width: min(app.Width(out, defaultWidth), mostWidth), colour: app.Coloured(out)}
	if len(args) == 0 {
		err = p.list(docs)
	} else {
		err = p.look(docs, args[0])
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, p.String())
	return err
}

func (p *page) list(docs *app.Docs) error {
	modules, err := listed(docs)
	if err == nil {
		p.modules(modules)
	}
	return err
}

// listed are the modules of the SDK, and the functions of the host as one more.
func listed(docs *app.Docs) ([]*luaudoc.Module, error) {
	modules, err := docs.SDK()
	if err != nil {
		return nil, err
	}
	native, err := docs.Look(app.Native)
	return append(modules, native.Module), err
}

func (p *page) look(docs *app.Docs, name string) error {
	found, err := docs.Find(name)
	switch {
	case err != nil:
		return err
	case len(found) > 1:
		p.choice(name, found)
	case found[0].Member == nil:
		p.module(found[0].Module)
	default:
		p.member(found[0])
	}
	return nil
}

// complete gives the names of modules, and of members behind a dot; the shell completes files.
func complete(folders, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	docs, err := app.NewDocs(folders)
	if err != nil || strings.HasPrefix(word, ".") || strings.HasPrefix(word, "/") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	if name, _, dotted := strings.Cut(word, "."); dotted {
		if doc, err := docs.Look(name); err == nil {
			return matching(memberNames(doc.Module), word), cobra.ShellCompDirectiveNoFileComp
		}
	}
	modules, err := listed(docs)
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, m := range modules {
		names = append(names, described(m.Name, m.Comment))
	}
	if names = matching(names, word); len(names) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// described is a name with what shells show beside it.
func described(name, comment string) string {
	if summary := luaudoc.Summary(comment); summary != "" {
		return name + "\t" + summary
	}
	return name
}

func memberNames(m *luaudoc.Module) []string {
	var names []string
	for _, found := range m.Members() {
		doc := app.Doc{Module: m, Member: &found}
		names = append(names, described(doc.Name(), comment(doc)))
	}
	return names
}

// comment is that of what was found.
func comment(doc app.Doc) string {
	switch m := doc.Member; {
	case m == nil:
		return doc.Module.Comment
	case m.Value != nil:
		return m.Value.Comment
	case m.Type != nil:
		return m.Type.Comment
	default:
		return m.Field.Comment
	}
}

func matching(names []string, word string) []string {
	var found []string
	for _, name := range names {
		if strings.HasPrefix(name, word) && visible.Text(name) == name {
			found = append(found, name)
		}
	}
	return found
}
