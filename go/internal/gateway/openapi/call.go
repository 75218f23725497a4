package openapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/spelling"
)

// Call makes a request of a function and gives what came. params are named as Source says; body is a JSON tree, or a
// string where the function takes text or bytes. Errors are *Error.
func (a *API) Call(ctx context.Context, function string, params map[string]any, body any) (*Response, error) {
	response, err := a.call(ctx, function, params, body)
	if err == nil {
		return response, nil
	}
	var failed *Error
	if !errors.As(err, &failed) {
		failed = a.lost(ctx, err)
	}
	failed.API, failed.Function = a.config.Name, function
	failed.Message = a.redact(failed.Message)
	return nil, failed
}

func (a *API) call(ctx context.Context, function string, params map[string]any, body any) (*Response, error) {
	op, ok := a.operations[function]
	if !ok {
		message := fmt.Sprintf("there is no function %q", spelling.Clip(function, 100))
		if near := spelling.Nearest(function, sortedKeys(a.operations)); near != "" {
			message += fmt.Sprintf(", did you mean %q?", near)
		}
		return nil, &Error{Code: CodeNotFound, Message: message}
	}
	request, err := a.request(ctx, op, params, body)
	if err != nil {
		return nil, err
	}
	chosen, scopes, missing := a.auth.choose(op)
	response, token, err := a.send(request, chosen, scopes, "")
	if err == nil && response.Status == http.StatusUnauthorized && token != "" {
		// The token may have ended before its time. A server that answers 401 has done nothing.
		response, _, err = a.send(request, chosen, scopes, token)
	}
	if err != nil {
		return nil, err
	}
	if response.Status < 400 {
		return response, nil
	}
	failed := a.refused(response)
	if len(missing) > 0 && failed.Code == CodePermission {
		failed.Message += "; this call needs the security scheme " + strings.Join(missing, ", or ") + ": set auth"
	}
	return nil, failed
}

// send sends a request, once more where the connection was lost and nothing can have happened twice.
func (a *API) send(request *http.Request, chosen []bound, scopes []string, stale string) (*Response, string, error) {
	ctx := request.Context()
	for attempt := 0; ; attempt++ {
		sent := request.Clone(ctx)
		if request.GetBody != nil {
			sent.Body, _ = request.GetBody() // it reads from memory
		}
		token, err := a.auth.apply(ctx, sent, chosen, scopes, stale)
		if err != nil {
			return nil, "", err
		}
		response, err := a.exchange(sent)
		if err == nil {
			return response, token, nil
		}
		again := attempt == 0 && ctx.Err() == nil && (request.Method == http.MethodGet || request.Method == http.MethodHead)
		if !again || isFinal(err) {
			return nil, token, err
		}
		a.options.Logger.Info("a request is sent again", "api", a.config.Name, "method", request.Method, "problem", a.redact(plainCause(err)))
	}
}

// isFinal is for errors that are no failures of a connection.
func isFinal(err error) bool {
	var failed *Error
	var redirected *redirectError
	coded := policy(nil)
	return errors.As(err, &failed) || errors.As(err, &redirected) || errors.As(err, &coded)
}

func (a *API) exchange(request *http.Request) (*Response, error) {
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return a.read(response)
}

// redirectError is a redirect that is not followed.
type redirectError struct{ problem string }

func (e *redirectError) Error() string { return e.problem }

const mostRedirects = 10

// checkRedirect lets nothing but the address travel to another server: credentials stand in headers of any name.
func checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	next.Header.Del("Referer") // it may hold a key
	switch {
	case len(via) >= mostRedirects:
		return &redirectError{fmt.Sprintf("the server redirects more than %d times", mostRedirects)}
	case next.URL.Scheme != "http" && next.URL.Scheme != "https":
		return &redirectError{"the server redirects to what is no server"}
	case sameOrigin(first.URL, next.URL):
		return nil
	case next.Method != http.MethodGet && next.Method != http.MethodHead:
		return &redirectError{"the server redirects to " + next.URL.Host + ", and what is sent does not follow to another server: set base_url"}
	}
	for name := range next.Header {
		if !slices.Contains([]string{"Accept", "User-Agent"}, name) {
			next.Header.Del(name)
		}
	}
	return nil
}
