// Package wire is what the providers over HTTP have in common: sending through an SDK and taking the
// answer before the SDK reads it, bounds on what is read, failures as models.Error, and event
// streams as servers really write them. It knows the format of no provider.
package wire

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/hukilau/hukilau/go/internal/models"
)

// Bounds of one answer. They are far above what models write, and keep a server from filling memory.
const (
	maxAnswer = 16 << 20
	maxLine   = 4 << 20
	maxFailed = 64 << 10 // what is read of an answer that is an error
)

type captureKey struct{}

// capture is where the transport leaves what came for Open.
type capture struct {
	stream *Stream
	err    error
}

// Client is an HTTP client for an SDK. What it fetches goes to Open; the SDK gets an empty object.
// Redirects are errors: the key in a header must not travel to another host.
func Client(next http.RoundTripper, provider string) *http.Client {
	if next == nil {
		next = http.DefaultTransport
	}
	return &http.Client{Transport: &transport{next, provider}}
}

type transport struct {
	next     http.RoundTripper
	provider string
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	taken, ok := r.Context().Value(captureKey{}).(*capture)
	if !ok {
		return nil, errors.New("wire: a request outside of Open")
	}
	response, err := t.next.RoundTrip(r)
	if err != nil {
		taken.err = t.lost(r.Context(), err)
		return nil, taken.err
	}
	if refused := t.refused(response); refused != nil {
		taken.err = withoutKeys(refused, r.Header)
		return nil, taken.err
	}
	taken.stream = newStream(t, r, response)
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(strings.NewReader("{}")), ContentLength: 2,
	}, nil
}

// refused is the error that a response stands for, or nil. It closes the body then.
func (t *transport) refused(r *http.Response) *models.Error {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	page := media == "text/html" || media == "application/xhtml+xml"
	if r.StatusCode == http.StatusOK && !page {
		return nil
	}
	defer r.Body.Close()
	if r.StatusCode >= 300 && r.StatusCode < 400 {
		return &models.Error{Code: models.CodeUpstream, Provider: t.provider, Status: r.StatusCode,
			Message: "the server redirects to another address, which is not followed: set base_url to where it leads"}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxFailed))
	if err != nil && len(body) == 0 {
		body = []byte(http.StatusText(r.StatusCode))
	}
	if page {
		return t.page(r, body)
	}
	return ErrorOf(t.provider, r.StatusCode, r.Header, body)
}

// page is the error of a page for people, which proxies and wrong addresses answer with.
func (t *transport) page(r *http.Response, body []byte) *models.Error {
	e := ErrorOf(t.provider, r.StatusCode, r.Header, nil)
	e.Message = "an HTML page came in place of an answer: check base_url"
	if title := pageTitle(string(body)); title != "" {
		e.Message = models.Clip("an HTML page came in place of an answer (" + title + "): check base_url")
	}
	if r.StatusCode == http.StatusOK {
		e.Code, e.Retryable = models.CodeUpstream, true // maintenance pages look like this
	}
	return e
}

// withoutKeys takes what the request proved itself with out of an error: servers like to repeat it.
func withoutKeys(e *models.Error, sent http.Header) *models.Error {
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		key := strings.TrimSpace(strings.TrimPrefix(sent.Get(name), "Bearer "))
		if len(key) >= 4 {
			e.Message = strings.ReplaceAll(e.Message, key, "(the key)")
		}
	}
	return e
}

func pageTitle(page string) string {
	lower := strings.ToLower(page)
	from := strings.Index(lower, "<title>")
	if from < 0 || len(lower) != len(page) {
		return ""
	}
	title, _, ok := strings.Cut(page[from+len("<title>"):], "<")
	if !ok || len(title) > 200 {
		return ""
	}
	return strings.TrimSpace(title)
}

// lost is the error of a connection. What the host's own policy says stays as it is.
func (t *transport) lost(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		return err
	}
	return &models.Error{
		Code: models.CodeUpstream, Provider: t.provider, Retryable: true, Cause: err,
		Message: models.Clip("no answer came: " + err.Error()),
	}
}

// Open lets an SDK send one request. send must use its context and the SDK a client of Client. The
// Stream is the answer's body, and must be closed.
func Open(ctx context.Context, provider string, send func(ctx context.Context) error) (*Stream, error) {
	taken := &capture{}
	err := send(context.WithValue(ctx, captureKey{}, taken))
	switch {
	case taken.err != nil:
		return nil, taken.err
	case taken.stream != nil:
		// What the SDK made of the empty object does not matter.
		return taken.stream, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
		err = errors.New("the SDK sent nothing")
	}
	return nil, &models.Error{Code: models.CodeInvalidRequest, Provider: provider,
		Message: models.Clip("the request cannot be written: " + err.Error()), Cause: err}
}
