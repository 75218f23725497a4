package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/luaudoc"
)

const (
	commandsPage = "commands.md"
	nativePage   = "native.md"
)

// notInRunner are the modules for which the plain runner has no functions: what requires them fails there.
var notInRunner = []string{"haivivi/music"}

// pages are all pages by the names of their files.
func pages() (map[string][]byte, error) {
	docs, err := app.NewDocs(nil)
	if err != nil {
		return nil, err
	}
	modules, err := docs.SDK()
	if err != nil {
		return nil, err
	}
	hosts, err := docs.HostModules()
	if err != nil {
		return nil, err
	}
	made := map[string][]byte{
		"README.md":  index(modules),
		nativePage:   nativeFunctions(hosts),
		commandsPage: commands(wholeRoot()),
	}
	for _, m := range modules {
		made[fileName(m.Name)] = modulePage(m)
	}
	return made, nil
}

func index(modules []*luaudoc.Module) []byte {
	var p page
	p.title("Reference", "the sources")
	p.paragraph("What scripts find, and the command line. `luau doc` shows the same in a terminal.")
	p.heading(2, "Modules")
	p.paragraph("Each is there by `require`, with the name in the first column.")
	p.WriteString("\n| module | |\n|---|---|\n")
	for _, m := range modules {
		fmt.Fprintf(&p, "| [%s](%s) | %s |\n", m.Name, fileName(m.Name), cell(luaudoc.Summary(m.Comment)))
	}
	p.heading(2, "More")
	p.WriteString("\n")
	fmt.Fprintf(&p, "- [Functions of the host](%s): the global `__native`, which the modules stand on\n", nativePage)
	fmt.Fprintf(&p, "- [Command line](%s): the verbs of `luau` and their flags\n", commandsPage)
	return []byte(p.String())
}

func modulePage(m *luaudoc.Module) []byte {
	var p page
	p.title(m.Name, "`libs/"+m.Name+"`")
	info := "luau"
	if slices.Contains(notInRunner, m.Name) {
		info = "luau no-run"
	}
	p.code(info, fmt.Sprintf("local %s = require(%q)", localName(m.Name), m.Name))
	p.comment(m.Comment)
	p.contents(m)
	p.values(m.Values, m.Prefix(), 2, m)
	p.types(m.Types, 2)
	return []byte(p.String())
}

// localName is what a script may call a module: not as a library of Luau itself.
func localName(module string) string {
	switch name := module[strings.LastIndexByte(module, '/')+1:]; name {
	case "string":
		return "text"
	case "table":
		return "tables"
	default:
		return name
	}
}

func nativeFunctions(hosts []*luaudoc.Module) []byte {
	var p page
	p.title("Functions of the host", "the stubs beside the host modules")
	p.paragraph("The global `__native` has the functions that the modules for `require` stand on. Scripts use those modules; what is here is for who writes one, or needs a single function without them. Which of them a script has is the host's choice: what is not there is nil.")
	for _, m := range hosts {
		p.heading(2, m.Name)
		p.comment(m.Comment)
		for _, v := range m.Values {
			if v.Kind == luaudoc.Namespace && v.Comment == "" {
				p.values(v.Members, app.Native+"."+v.Name+".", 3, nil)
			} else {
				p.values([]*luaudoc.Value{v}, app.Native+".", 3, nil)
			}
		}
		p.types(m.Types, 3)
	}
	return []byte(p.String())
}
