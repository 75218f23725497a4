package openapi

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/hukilau/hukilau/go/internal/size"
	"github.com/hukilau/hukilau/go/internal/spelling"
)

// Kind is what a response holds.
type Kind string

// The kinds of responses.
const (
	KindEmpty Kind = "empty"
	KindJSON  Kind = "json"
	KindText  Kind = "text"
	KindBytes Kind = "bytes"
)

// Response is what a server answered.
type Response struct {
	Status      int
	Headers     http.Header // without cookies
	ContentType string      // without parameters; "" is none
	Kind        Kind
	JSON        []byte // one valid text of JSON, in UTF-8
	Text        string // in UTF-8
	Bytes       []byte
}

// read takes a response within its bounds.
func (a *API) read(from *http.Response) (*Response, error) {
	r := &Response{Status: from.StatusCode, Headers: from.Header.Clone(), ContentType: mediaName(from.Header.Get("Content-Type")), Kind: KindEmpty}
	r.Headers.Del("Set-Cookie")
	if from.StatusCode >= 300 && from.StatusCode < 400 && from.StatusCode != http.StatusNotModified {
		return nil, &redirectError{fmt.Sprintf("the server answered %s without an address that could be followed", from.Status)}
	}
	content, err := a.content(from)
	if err != nil {
		var failed *Error
		if errors.As(err, &failed) {
			failed.Status, failed.Sent = r.Status, true
		}
		return nil, err
	}
	if len(content) == 0 {
		return r, nil
	}
	if err := r.fill(content, from.Header.Get("Content-Type")); err != nil {
		shown := &Response{Status: r.Status, Headers: r.Headers, ContentType: r.ContentType, Kind: KindText, Text: a.redact(strings.ToValidUTF8(string(content), "\uFFFD"))}
		return nil, &Error{Code: CodeUpstream, Status: r.Status, Response: shown, Sent: true, Message: err.Error()}
	}
	return r, nil
}

// content reads the body, decompressed.
func (a *API) content(from *http.Response) ([]byte, error) {
	body, err := decompressed(from)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(body, a.options.MaxResponse+1))
	switch {
	case int64(len(content)) > a.options.MaxResponse:
		return nil, &Error{Code: CodeTooLarge, Message: fmt.Sprintf("the response is larger than %s", size.Bytes(a.options.MaxResponse))}
	case err != nil:
		return nil, err
	}
	return content, nil
}

// decompressed is for servers that compress without being asked; what was asked for is read by the transport.
func decompressed(from *http.Response) (io.Reader, error) {
	switch encoding := strings.ToLower(strings.TrimSpace(from.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
		return from.Body, nil
	case "gzip", "x-gzip":
		start := make([]byte, 1)
		if n, _ := io.ReadFull(from.Body, start); n == 0 {
			return bytes.NewReader(nil), nil
		}
		return gzip.NewReader(io.MultiReader(bytes.NewReader(start), from.Body))
	case "deflate":
		// Servers send it with and without zlib's header.
		start := make([]byte, 2)
		n, _ := io.ReadFull(from.Body, start)
		rest := io.MultiReader(bytes.NewReader(start[:n]), from.Body)
		if n == 0 {
			return rest, nil
		}
		if n == 2 && start[0]&15 == 8 && (int(start[0])<<8+int(start[1]))%31 == 0 {
			return zlib.NewReader(rest)
		}
		return flate.NewReader(rest), nil
	default:
		return nil, &Error{Code: CodeUpstream, Message: fmt.Sprintf("the response is compressed as %.40q, which nobody asked for", encoding)}
	}
}

// fill reads content by its media type.
func (r *Response) fill(content []byte, contentType string) error {
	_, parameters, _ := mime.ParseMediaType(contentType)
	kind := kindOf(r.ContentType)
	if r.ContentType == "" {
		kind = guess(content)
	}
	if kind == kindBinary || kind == kindMultipart {
		r.Kind, r.Bytes = KindBytes, content
		return nil
	}
	text, err := toUTF8(content, parameters["charset"])
	if err != nil {
		return err
	}
	if kind != kindJSON {
		if !utf8.Valid(text) {
			r.Kind, r.Bytes = KindBytes, content
			return nil
		}
		r.Kind, r.Text = KindText, string(text)
		return nil
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil
	}
	if !json.Valid(text) || !utf8.Valid(text) {
		return fmt.Errorf("the server says that it answers with %s, and this is none: %s", r.ContentType,
			spelling.Clip(strings.ToValidUTF8(string(text[:min(len(text), 400)]), "\uFFFD"), 200))
	}
	r.Kind, r.JSON = KindJSON, text
	return nil
}

// guess is for responses that do not say what they are.
func guess(content []byte) kind {
	switch trimmed := bytes.TrimSpace(content); {
	case len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid(trimmed):
		return kindJSON
	case utf8.Valid(content) && !bytes.Contains(content, []byte{0}):
		return kindText
	}
	return kindBinary
}

// toUTF8 reads text in another character set.
func toUTF8(content []byte, charset string) ([]byte, error) {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	if charset == "" || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "utf8") {
		return content, nil
	}
	encoding, err := htmlindex.Get(charset)
	if err != nil {
		return nil, fmt.Errorf("the response has the character set %.40q, which is not known", charset)
	}
	return encoding.NewDecoder().Bytes(content)
}
