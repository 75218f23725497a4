package toolhost

import (
	"context"

	"github.com/hukilau/hukilau/go/internal/hostmods/toolmod"
	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// generateText asks once.
func (c *call) generateText(ctx context.Context, a *asked, m Model, r *models.Request) (*models.Response, error) {
	return models.Generate(ctx, m.Provider, r)
}

// NewAgent implements toolmod.Host.
func (c *call) NewAgent(context.Context, string, []byte) (toolmod.Agent, error) {
	return nil, &luau.Error{Code: "not_available", Message: "ctx.create_agent: this host makes no agents"}
}
