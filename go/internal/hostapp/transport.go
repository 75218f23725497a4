package hostapp

import (
	"context"
	"net/http"

	"github.com/hukilau/hukilau/go/internal/models"
)

// withHeaders adds the headers that the configuration gives a model.
type withHeaders struct {
	http.RoundTripper
	headers map[string]string
}

// RoundTrip implements http.RoundTripper.
func (w withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	changed := r.Clone(r.Context())
	for name, value := range w.headers {
		changed.Header.Set(name, value)
	}
	return w.RoundTripper.RoundTrip(changed)
}

// fails answers every request with an error.
type fails struct{ err error }

// Stream implements models.Provider.
func (f fails) Stream(context.Context, *models.Request, func(models.Event) error) (*models.Response, error) {
	return nil, f.err
}
