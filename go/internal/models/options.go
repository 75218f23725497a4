package models

import (
	"fmt"
	"net/http"
)

// Options are what every provider over HTTP is made with.
type Options struct {
	APIKey  string
	BaseURL string // "": the provider's own address
	// Transport sends the requests; nil: http.DefaultTransport. The host's network policy stands
	// here.
	Transport http.RoundTripper
}

// String hides the key.
func (o Options) String() string { return fmt.Sprintf("{base_url: %q}", o.BaseURL) }

// GoString hides the key.
func (o Options) GoString() string { return o.String() }
