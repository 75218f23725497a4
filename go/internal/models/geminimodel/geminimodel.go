// Package geminimodel reaches Google's models over the Gemini API. Requests are written by Google's
// SDK; answers are read here.
package geminimodel

import (
	"context"

	"google.golang.org/genai"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/wire"
)

const (
	name    = "gemini"
	address = "https://generativelanguage.googleapis.com/"
)

// Provider is a models.Provider. Any goroutine may use it.
type Provider struct{ client *genai.Client }

var _ models.Provider = (*Provider)(nil)

// New makes a Provider. The SDK takes what is not given from the environment, so everything is.
func New(o models.Options) (*Provider, error) {
	if o.APIKey == "" {
		return nil, &models.Error{Code: models.CodePermission, Provider: name, Message: "api_key is missing"}
	}
	base := o.BaseURL
	if base == "" {
		base = address
	}
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI, APIKey: o.APIKey, HTTPClient: wire.Client(o.Transport, name),
		HTTPOptions: genai.HTTPOptions{BaseURL: base},
	})
	if err != nil {
		// Its text may show the whole configuration.
		return nil, &models.Error{Code: models.CodeInvalidRequest, Provider: name, Message: "the settings are not valid: check base_url"}
	}
	return &Provider{client}, nil
}

// Stream implements models.Provider.
func (p *Provider) Stream(ctx context.Context, r *models.Request, emit func(models.Event) error) (*models.Response, error) {
	contents, config, err := newRequest(r)
	if err != nil {
		return nil, err
	}
	c := models.NewCollector(r, emit)
	stream, err := wire.Open(ctx, name, func(ctx context.Context) error {
		for _, err := range p.client.Models.GenerateContentStream(ctx, r.Model, contents, config) {
			return err
		}
		return nil
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
