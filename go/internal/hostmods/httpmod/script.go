package httpmod

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// scriptRequest is the table that `__native.http.request` and `open` take.
type scriptRequest struct {
	URL          *string        `luau:"url"`
	Method       string         `luau:"method"`
	Headers      map[string]any `luau:"headers"`
	Body         any            `luau:"body"`
	Timeout      *float64       `luau:"timeout"`
	IdleTimeout  *float64       `luau:"idle_timeout"`
	MaxBody      *int64         `luau:"max_body"`
	MaxRedirects *int           `luau:"max_redirects"`
}

func (i *instance) requestArgument(c *luau.Call) (*Request, error) {
	var s scriptRequest
	if err := c.Bind(0, &s); err != nil {
		return nil, err
	}
	if s.URL == nil {
		return nil, c.Argument(0, ": .url must be a string, got nil")
	}
	r := &Request{URL: *s.URL, Method: s.Method, Memory: vmMemory{i.vm}}
	var err error
	switch body := s.Body.(type) {
	case nil:
	case string:
		r.Body = []byte(body)
	case []byte:
		r.Body = body
	default: // an empty table would pass for empty bytes
		return nil, c.Argument(0, ": .body must be a string or a buffer")
	}
	if r.Header, err = headerArgument(c, 0, s.Headers); err != nil {
		return nil, err
	}
	if r.Timeout, err = secondsArgument(c, "timeout", s.Timeout); err != nil {
		return nil, err
	}
	if r.IdleTimeout, err = secondsArgument(c, "idle_timeout", s.IdleTimeout); err != nil {
		return nil, err
	}
	if s.MaxBody != nil {
		if r.MaxBody = *s.MaxBody; r.MaxBody <= 0 {
			return nil, c.Argument(0, ": .max_body must be a number of bytes above 0")
		}
	}
	if s.MaxRedirects != nil {
		if r.MaxRedirects = *s.MaxRedirects; r.MaxRedirects <= 0 {
			r.MaxRedirects = -1
		}
	}
	return r, nil
}

// secondsArgument reads a time limit. Infinity is none; the run still has its own.
func secondsArgument(c *luau.Call, name string, seconds *float64) (time.Duration, error) {
	if seconds == nil {
		return 0, nil
	}
	switch d, _ := hostmod.Duration(*seconds, time.Second); d {
	case 0:
		return 0, c.Argument(0, ": ."+name+" must be a number of seconds above 0")
	case hostmod.Forever:
		return -1, nil
	default:
		return d, nil
	}
}

// headerArgument reads headers in the order of their names, so that which error comes first does not
// depend on chance.
func headerArgument(c *luau.Call, i int, m map[string]any) (http.Header, error) {
	if len(m) > maxHeaderValues {
		return nil, tooManyHeaders(c, i)
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	header := make(http.Header, len(m))
	count, size := 0, 0
	for _, name := range names {
		values, ok := m[name].([]any)
		if !ok {
			values = []any{m[name]}
		}
		if count += len(values); count > maxHeaderValues {
			return nil, tooManyHeaders(c, i)
		}
		for _, v := range values {
			text, ok := v.(string)
			if n, isNumber := v.(float64); isNumber {
				text, ok = luau.FormatNumber(n), true
			}
			if !ok {
				return nil, c.Argument(i, "header "+name+" must be a string or an array of strings")
			}
			if size += len(name) + len(text); size > maxHeaderBytes {
				return nil, c.Argument(i, fmt.Sprintf("must not be longer than %d bytes in all", maxHeaderBytes))
			}
			header[name] = append(header[name], text)
		}
	}
	return header, nil
}

// What the header of a request may hold; servers take far less.
const (
	maxHeaderValues = 1000
	maxHeaderBytes  = 256 << 10
)

func tooManyHeaders(c *luau.Call, i int) error {
	return c.Argument(i, fmt.Sprintf("must not hold more than %d headers", maxHeaderValues))
}

// head is what scripts see of a response before its body. headers has one text for each name: values
// joined with ", ", but for Set-Cookie, where that would be wrong, the first. header_values has all,
// always arrays.
func head(status int, header http.Header, url string) map[string]any {
	first := make(luau.Folded, len(header))
	all := make(luau.Folded, len(header))
	for name, values := range header {
		lower := strings.ToLower(name)
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v
		}
		all[lower] = list
		first[lower] = strings.Join(values, ", ")
		if lower == "set-cookie" {
			first[lower] = values[0]
		}
	}
	return map[string]any{"status": status, "headers": first, "header_values": all, "url": url}
}
