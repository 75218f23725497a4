// Package anthropicmodel reaches Anthropic's models over its messages API. Requests are written by
// Anthropic's SDK; answers are read here.
package anthropicmodel

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/wire"
)

const (
	name    = "anthropic"
	address = "https://api.anthropic.com"
	// defaultMaxTokens is for requests that set none: the API wants a number, and the models of the
	// last years take this one.
	defaultMaxTokens = 8192
)

// Provider is a models.Provider. Any goroutine may use it.
type Provider struct{ service anthropic.MessageService }

var _ models.Provider = (*Provider)(nil)

// New makes a Provider. Nothing is taken from the environment or from profiles of other programs.
func New(o models.Options) (*Provider, error) {
	if o.APIKey == "" {
		return nil, &models.Error{Code: models.CodePermission, Provider: name, Message: "api_key is missing"}
	}
	base := o.BaseURL
	if base == "" {
		base = address
	}
	return &Provider{anthropic.NewMessageService(
		option.WithBaseURL(base), option.WithAPIKey(o.APIKey), option.WithMaxRetries(0),
		option.WithHTTPClient(wire.Client(o.Transport, name)),
		option.WithoutOpenTelemetry(), // the host traces what its transport sends
	)}, nil
}

// Stream implements models.Provider.
func (p *Provider) Stream(ctx context.Context, r *models.Request, emit func(models.Event) error) (*models.Response, error) {
	params, err := newParams(r)
	if err != nil {
		return nil, err
	}
	var extra []option.RequestOption
	if r.Temperature != nil {
		// The SDK leaves it out, as the newest models refuse it; older ones know it.
		extra = append(extra, option.WithJSONSet("temperature", *r.Temperature))
	}
	c := models.NewCollector(r, emit)
	stream, err := wire.Open(ctx, name, func(ctx context.Context) error {
		sent := p.service.NewStreaming(ctx, params, extra...)
		defer sent.Close()
		return sent.Err()
	})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	a := answer{collector: c, stream: stream, blocks: map[int]*block{}}
	if err := a.read(); err != nil {
		return c.Fail(err)
	}
	return c.End(a.stop)
}
