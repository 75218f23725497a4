package toolhost

import (
	"context"
	"sync"

	"github.com/hukilau/hukilau/go/internal/hostmods/toolmod"
	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Model is a model that tools may be granted.
type Model struct {
	Provider models.Provider
	Name     string // as the provider calls it
}

// spent is what the models of one call used.
type spent struct {
	mu    sync.Mutex
	usage models.Usage
}

func (c *call) usage() models.Usage {
	c.spent.mu.Lock()
	defer c.spent.mu.Unlock()
	return c.spent.usage
}

var errNoModels = &luau.Error{Code: "not_available", Message: "this host has no models"}

// Generate implements toolmod.Host.
func (c *call) Generate(context.Context, []byte) ([]byte, error) { return nil, errNoModels }

// GenerateStream implements toolmod.Host.
func (c *call) GenerateStream(context.Context, []byte) (toolmod.Stream, error) {
	return nil, errNoModels
}

// NewAgent implements toolmod.Host.
func (c *call) NewAgent(context.Context, string, []byte) (toolmod.Agent, error) {
	return nil, errNoModels
}
