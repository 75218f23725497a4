// Package builtin is the table of host modules that every program has, and nothing else.
package builtin

import (
	"github.com/hukilau/hukilau/go/internal/hostmods/asyncmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/jsonmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/logmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/timemod"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// Modules makes the built-in modules. http is shared by VMs of one policy.
func Modules(http *httpmod.Module) []hostmod.Module {
	return []hostmod.Module{asyncmod.Module{}, jsonmod.Module{}, logmod.Module{}, timemod.Module{}, http}
}
