// Package builtin is the table of host modules that every program has, and nothing else.
package builtin

import (
	"github.com/hukilau/hukilau/go/internal/hostmods/agentmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/asyncmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/contextmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/cryptomod"
	"github.com/hukilau/hukilau/go/internal/hostmods/encodingmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/envmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/fsmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/jsonmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/kvmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/logmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/processmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/regexmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/timemod"
	"github.com/hukilau/hukilau/go/internal/hostmods/tomlmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/uuidmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/yamlmod"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// Parts are what the modules need of the program. A module whose part is nil is left out.
type Parts struct {
	HTTP    *httpmod.Module    // shared by VMs of one policy
	Environ func() []string    // as os.Environ
	Keys    *kvmod.Module      // one namespace of the process's store
	Process *processmod.Module // for a script that has the process to itself
	Folder  string             // where relative paths of fs begin; empty: the working directory

	// Where scripts register contexts and agents. nil: a registry that nobody reads.
	Contexts *contextmod.Registry
	Agents   *agentmod.Registry
}

// Modules makes the built-in modules.
func Modules(p Parts) []hostmod.Module {
	list := []hostmod.Module{
		asyncmod.Module{}, fsmod.Module{Dir: p.Folder}, jsonmod.Module{}, logmod.Module{}, timemod.Module{}, cryptomod.Module{}, encodingmod.Module{},
		&regexmod.Module{}, uuidmod.Module{}, tomlmod.Module{}, yamlmod.Module{},
	}
	if p.Contexts == nil {
		p.Contexts = contextmod.NewRegistry(contextmod.Options{})
	}
	if p.Agents == nil {
		p.Agents = agentmod.NewRegistry(agentmod.Options{})
	}
	list = append(list, contextmod.New(p.Contexts), agentmod.New(p.Agents))
	if p.HTTP != nil {
		list = append(list, p.HTTP)
	}
	if p.Environ != nil {
		list = append(list, envmod.New(p.Environ))
	}
	if p.Keys != nil {
		list = append(list, p.Keys)
	}
	if p.Process != nil {
		list = append(list, p.Process)
	}
	return list
}
