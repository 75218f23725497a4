package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/redact"
	"github.com/hukilau/hukilau/go/internal/spelling"
)

// Code says what kind of failure an Error is.
type Code string

// The kinds of failures.
const (
	CodeInvalid    Code = "invalid_params" // nothing was sent: the arguments make no request
	CodeNotFound   Code = "not_found"      // there is no such function, or the server says 404
	CodePermission Code = "permission"     // the server says 401 or 403, or gave no token
	CodeUpstream   Code = "upstream"       // any other failure of the server, or of the way to it
	CodeTooLarge   Code = "too_large"      // the response is larger than allowed
)

// Error is a call that failed. It matches what caused it.
type Error struct {
	API, Function string
	Code          Code
	Message       string // without secrets
	Status        int    // 0: no response came
	// Response is what the server answered; nil: nothing, or nothing that could be read. Secrets are taken out.
	Response *Response
	// Retryable says that the same call may succeed later.
	Retryable bool
	// RetryAfter is how long the server wants to be left alone; 0: it does not say.
	RetryAfter time.Duration
	// Sent says that the server may have acted on the request.
	Sent  bool
	cause error
}

func (e *Error) Error() string {
	name := e.API
	if e.Function != "" {
		name += "." + e.Function
	}
	return name + ": " + e.Message
}

// Unwrap gives what caused a failure, as the end of a context.
func (e *Error) Unwrap() error { return e.cause }

// ErrorCode is the code as scripts see it.
func (e *Error) ErrorCode() string { return string(e.Code) }

func invalid(message string) *Error { return &Error{Code: CodeInvalid, Message: message} }

// lost is the error of a connection.
func (a *API) lost(ctx context.Context, err error) *Error {
	e := &Error{Code: CodeUpstream, Sent: true, cause: err}
	if ended := ctx.Err(); ended != nil {
		e.cause = ended
		if cause := context.Cause(ctx); cause != nil {
			e.cause = cause
		}
		e.Message = "no answer came in time"
		if !errors.Is(ended, context.DeadlineExceeded) {
			e.Message = "the call was cancelled before an answer came"
		}
		return e
	}
	if coded := policy(nil); errors.As(err, &coded) {
		e.Code, e.Message, e.Sent = Code(coded.ErrorCode()), coded.Error(), false
		return e
	}
	e.Sent, e.Retryable = !neverSent(err), true
	e.Message = "no answer came: " + a.redact(spelling.Clip(plainCause(err), 300))
	var redirected *redirectError
	if errors.As(err, &redirected) {
		e.Retryable = false
	}
	return e
}

// policy is what the host itself says no with: it stays as it is, and trying again changes nothing.
type policy interface {
	error
	ErrorCode() string
}

// neverSent says whether an error came before anything was sent.
func neverSent(err error) bool {
	var failed *net.OpError
	var name *net.DNSError
	return errors.As(err, &failed) && failed.Op == "dial" || errors.As(err, &name)
}

// refused is the error of a response whose status says so.
func (a *API) refused(r *Response) *Error {
	e := &Error{Code: CodeUpstream, Status: r.Status, Response: a.withoutSecrets(r), Sent: true}
	switch r.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Code = CodePermission
	case http.StatusNotFound:
		e.Code = CodeNotFound
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		e.Retryable = true
		e.RetryAfter = retryAfter(r.Headers, a.options.Now())
	}
	e.Message = "the server answered " + strconv.Itoa(r.Status)
	if text := http.StatusText(r.Status); text != "" {
		e.Message += " " + text
	}
	if said := e.Response.said(); said != "" {
		e.Message += ": " + said
	}
	return e
}

// withoutSecrets is a response that is shown in an error.
func (a *API) withoutSecrets(r *Response) *Response {
	shown := *r
	shown.Headers = make(http.Header, len(r.Headers))
	for name, values := range r.Headers {
		for _, value := range values {
			shown.Headers[name] = append(shown.Headers[name], a.redact(value))
		}
	}
	shown.Text = a.redact(r.Text)
	if r.Bytes != nil {
		shown.Bytes = []byte(a.redact(string(r.Bytes)))
	}
	if r.JSON != nil {
		if shown.JSON = []byte(a.redact(string(r.JSON))); !json.Valid(shown.JSON) {
			shown.JSON = []byte(`"` + redact.Mark + `"`)
		}
	}
	return &shown
}

// said is what a failure says about itself, for people.
func (r *Response) said() string {
	if r.JSON == nil {
		if r.Kind != KindText || strings.Contains(r.ContentType, "html") {
			return ""
		}
		return spelling.Clip(strings.TrimSpace(r.Text), 300)
	}
	tree, err := jsonvalue.Decode(r.JSON, jsonvalue.Options{})
	if err != nil {
		return ""
	}
	if text, ok := tree.(string); ok {
		return spelling.Clip(text, 300)
	}
	object := asObject(tree)
	if inner := asObject(object["error"]); inner != nil {
		object = inner
	}
	var parts []string
	for _, keys := range [][]string{{"title", "error"}, {"detail", "message", "error_description", "description"}} {
		for _, key := range keys {
			if text, ok := object[key].(string); ok && text != "" {
				parts = append(parts, spelling.Clip(text, 300))
				break
			}
		}
	}
	return strings.Join(parts, ": ")
}

// retryAfter reads how long a server wants to be left alone.
func retryAfter(header http.Header, now time.Time) time.Duration {
	const most = 24 * time.Hour
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 {
		return time.Duration(min(seconds, most.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return min(at.Sub(now), most)
	}
	return 0
}
