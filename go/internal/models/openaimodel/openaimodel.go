// Package openaimodel reaches models over OpenAI's chat completions: OpenAI itself, and the servers
// that speak the same with small differences (Ollama, vLLM, llama.cpp and others). Requests are
// written by OpenAI's SDK; answers are read here, because those servers stretch the format.
package openaimodel

import (
	"context"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/wire"
)

const address = "https://api.openai.com/v1"

// Options describe a Provider.
type Options struct {
	models.Options
	// Compatible is for another server than OpenAI's own. It needs a BaseURL, and may need no key.
	Compatible bool
}

// Provider is a models.Provider. Any goroutine may use it.
type Provider struct {
	name       string
	compatible bool
	service    openai.ChatCompletionService
}

var _ models.Provider = (*Provider)(nil)

// New makes a Provider. Nothing is taken from the environment: a key in OPENAI_API_KEY must not
// reach another server.
func New(o Options) (*Provider, error) {
	p := &Provider{name: "openai", compatible: o.Compatible}
	base := o.BaseURL
	switch {
	case o.Compatible && base == "":
		return nil, invalid("openai-compatible", "base_url is missing: set it to the server's address, as http://127.0.0.1:11434/v1")
	case o.Compatible:
		p.name = "openai-compatible"
	case o.APIKey == "":
		return nil, &models.Error{Code: models.CodePermission, Provider: p.name, Message: "api_key is missing"}
	case base == "":
		base = address
	}
	options := []option.RequestOption{
		option.WithBaseURL(base), option.WithMaxRetries(0), option.WithHTTPClient(wire.Client(o.Transport, p.name)),
	}
	if o.APIKey != "" {
		options = append(options, option.WithAPIKey(o.APIKey))
	}
	p.service = openai.NewChatCompletionService(options...)
	return p, nil
}

func invalid(provider, message string) error {
	return &models.Error{Code: models.CodeInvalidRequest, Provider: provider, Message: message}
}

// Stream implements models.Provider.
func (p *Provider) Stream(ctx context.Context, r *models.Request, emit func(models.Event) error) (*models.Response, error) {
	params, err := p.params(r)
	if err != nil {
		return nil, err
	}
	c := models.NewCollector(r, emit)
	stream, err := wire.Open(ctx, p.name, func(ctx context.Context) error {
		sent := p.service.NewStreaming(ctx, params)
		defer sent.Close()
		return sent.Err()
	})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	a := answer{collector: c, stream: stream}
	if err := a.read(); err != nil {
		return c.Fail(err)
	}
	return c.End(a.stop)
}
