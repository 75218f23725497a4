package gateway

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/openapi"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// APISource is the operations of an OpenAPI document. It loads on its own, and again where that failed.
type APISource struct {
	config      openapi.Config
	options     openapi.Options
	description string
	timeout     time.Duration // of one call; 0: as long as the script
	changed     func()

	ctx  context.Context
	stop context.CancelFunc
	done chan struct{}

	mu     sync.Mutex
	tried  chan struct{} // closed when a try has ended
	api    *openapi.API
	source *catalog.Source
	err    error
}

// Waits between two tries to load a document.
const (
	firstRetry = time.Second
	lastRetry  = 2 * time.Minute
)

// OpenAPISource begins to load a document. The description is the operator's; "" is none. changed, which may be nil,
// hears when it is loaded. Close ends it.
func OpenAPISource(c openapi.Config, o openapi.Options, description string, timeout time.Duration, changed func()) *APISource {
	a := &APISource{
		config: c, options: o, description: description, timeout: timeout, changed: changed,
		done: make(chan struct{}), tried: make(chan struct{}),
	}
	a.ctx, a.stop = context.WithCancel(context.Background())
	go a.load()
	return a
}

func (a *APISource) load() {
	defer close(a.done)
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		api, err := openapi.Load(a.ctx, a.config, a.options)
		a.loaded(api, err)
		if err == nil {
			if a.changed != nil {
				a.changed()
			}
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-a.ctx.Done():
			timer.Stop()
			return
		}
	}
}

// loaded notes how a try has ended.
func (a *APISource) loaded(api *openapi.API, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.api, a.err = api, err
	if err == nil {
		source := *api.Source()
		if a.description != "" {
			source.Description = a.description
		}
		a.source = &source
	} else if a.ctx.Err() == nil && a.options.Logger != nil {
		a.options.Logger.Warn("an OpenAPI document cannot be loaded", "api", a.config.Name, "error", err.Error())
	}
	close(a.tried)
	a.tried = make(chan struct{})
}

// Name implements Upstream.
func (a *APISource) Name() string { return a.config.Name }

// Kind implements Upstream.
func (a *APISource) Kind() catalog.Kind { return catalog.OpenAPI }

// Source implements Upstream.
func (a *APISource) Source() *catalog.Source {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.source
}

// Status implements Upstream.
func (a *APISource) Status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.api != nil:
		return Status{State: Healthy, Notes: a.api.Warnings()}
	case a.err != nil:
		return Status{State: Unhealthy, Reason: a.err.Error()}
	}
	return Status{State: Connecting}
}

// Ready implements Upstream.
func (a *APISource) Ready(ctx context.Context) error {
	a.mu.Lock()
	api, err, tried := a.api, a.err, a.tried
	a.mu.Unlock()
	if api != nil || err != nil {
		return err
	}
	select {
	case <-tried:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// Call implements Upstream.
func (a *APISource) Call(ctx context.Context, c *Call) (*Result, error) {
	a.mu.Lock()
	api := a.api
	a.mu.Unlock()
	if api == nil {
		return nil, &Failure{Code: "unavailable", Message: "the document of " + a.Name() + " is not loaded", Retryable: true}
	}
	params := map[string]any{}
	if len(c.Params) > 0 {
		tree, err := jsonvalue.Decode(c.Params, jsonvalue.Options{})
		if err != nil {
			return nil, err
		}
		params, _ = tree.(map[string]any)
	}
	body := withBytes(c.Body)
	if c.RawBody != nil {
		body = string(c.RawBody)
	}
	inner := ctx
	if a.timeout > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, a.timeout)
		defer cancel()
	}
	response, err := api.Call(inner, c.Function.Name, params, body)
	if err != nil {
		return nil, a.failed(ctx, err)
	}
	return &Result{Response: responseOf(response)}, nil
}

// failed is an error of a call as scripts see it. The end of the call's own time stays what it is.
func (a *APISource) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var e *openapi.Error
	if !errors.As(err, &e) {
		return err
	}
	f := &Failure{Code: string(e.Code), Message: e.Message, Status: e.Status, Retryable: e.Retryable, Cause: err}
	if e.Status != 0 {
		f.Code = "http"
	}
	if e.Response != nil {
		f.Body = bodyOf(responseOf(e.Response))
	}
	return f
}

// responseOf is an answer as a result keeps it.
func responseOf(r *openapi.Response) *Response {
	made := &Response{Status: r.Status, ContentType: r.ContentType, Headers: map[string]string{}}
	for name, values := range r.Headers {
		made.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	switch r.Kind {
	case openapi.KindJSON:
		made.JSON = r.JSON
	case openapi.KindText:
		made.Text = &r.Text
	case openapi.KindBytes:
		made.Bytes = r.Bytes
	}
	return made
}

// bodyOf is what a server said with an error, as a JSON tree.
func bodyOf(r *Response) any {
	switch {
	case len(r.JSON) > 0:
		tree, err := jsonvalue.Decode(r.JSON, jsonvalue.Options{})
		if err != nil {
			return string(r.JSON)
		}
		return tree
	case r.Text != nil:
		return *r.Text
	case r.Bytes != nil:
		return strings.ToValidUTF8(string(r.Bytes), "\uFFFD")
	}
	return nil
}

// Forget implements Upstream.
func (a *APISource) Forget(string) {}

// Close implements Upstream.
func (a *APISource) Close() {
	a.stop()
	<-a.done
	if a.api != nil { // nobody loads any more
		a.api.Close()
	}
}
