// Package builtin is the table of host modules that every program has, and nothing else.
package builtin

import (
	"github.com/hukilau/hukilau/go/internal/hostmods/agentmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/contextmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/jsonmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/logmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/timemod"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// Modules makes the built-in modules. http is shared by VMs of one policy. Contexts and agents go to
// registries of their own, which nobody reads; a program that does makes these modules itself.
func Modules(http *httpmod.Module) []hostmod.Module {
	return []hostmod.Module{
		jsonmod.Module{}, logmod.Module{}, timemod.Module{}, http,
		contextmod.New(contextmod.NewRegistry(contextmod.Options{})), agentmod.New(agentmod.NewRegistry(agentmod.Options{})),
	}
}
