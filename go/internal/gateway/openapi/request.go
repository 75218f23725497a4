package openapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/spelling"
)

// request makes the request of a call without credentials. The body can be read again by its GetBody.
func (a *API) request(ctx context.Context, op *operation, params map[string]any, body any) (*http.Request, error) {
	values, err := a.values(op, params)
	if err != nil {
		return nil, err
	}
	base, err := a.serverOf(op)
	if err != nil {
		return nil, invalid(err.Error())
	}
	path, err := expand(op.Path, values)
	if err != nil {
		return nil, err
	}
	query, err := queryOf(path.query, values)
	if err != nil {
		return nil, err
	}
	content, contentType, err := encodeBody(a.model.body(op), body)
	if err != nil {
		return nil, err
	}
	var reader io.Reader
	if contentType != "" {
		reader = bytes.NewReader(content)
	}
	address, err := url.Parse(base.Scheme + "://" + base.Host + base.EscapedPath() + path.text)
	if err != nil {
		return nil, invalid("the address of this call is malformed: " + plainCause(err))
	}
	address.RawQuery = query
	request, err := http.NewRequestWithContext(ctx, op.Method, address.String(), reader)
	if err != nil {
		return nil, invalid(err.Error())
	}
	request.Header.Set("Accept", op.Accept)
	request.Header.Set("User-Agent", a.options.UserAgent)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if err := headersOf(request, values); err != nil {
		return nil, err
	}
	a.configured(request)
	return request, nil
}

// configured puts the headers of the configuration on a request.
func (a *API) configured(request *http.Request) {
	form := kindOf(request.Header.Get("Content-Type")) == kindMultipart
	for name, value := range a.config.Headers {
		switch http.CanonicalHeaderKey(name) {
		case "Cookie":
			addCookies(request, []string{value})
		case "Content-Type":
			if !form { // that of a form says where its parts end
				request.Header.Set(name, value)
			}
		default:
			request.Header.Set(name, value)
		}
	}
}

// argument is a parameter with its value.
type argument struct {
	*parameter
	key   string
	value any
}

func (g *argument) fail(err error) error {
	return invalid(fmt.Sprintf("%s: %s", g.key, err))
}

// values pairs parameters with what is given for them. A null is the same as nothing.
func (a *API) values(op *operation, params map[string]any) ([]argument, error) {
	var list []argument
	var known []string
	found := 0
	for i, index := range op.Parameters {
		p, key := a.model.Parameters[index], op.Keys[i]
		if a.isHidden(p) {
			continue
		}
		known = append(known, key)
		value, there := params[key]
		if there {
			found++
		}
		if value == nil {
			if p.Required {
				return nil, invalid(fmt.Sprintf("%s: it is missing, and this call needs it (in %s)", key, p.In))
			}
			continue
		}
		list = append(list, argument{p, key, value})
	}
	if found == len(params) {
		return list, nil
	}
	for _, key := range sortedKeys(params) {
		if !slices.Contains(known, key) {
			message := fmt.Sprintf("there is no parameter %q", spelling.Clip(key, 100))
			if near := spelling.Nearest(key, known); near != "" {
				message += fmt.Sprintf(", did you mean %q?", near)
			}
			return nil, invalid(message)
		}
	}
	return list, nil
}

// expanded is a path with values in it.
type expanded struct{ text, query string }

// expand fills in a path. Each value stays within its segment, and no segment becomes one that servers take for a step
// up.
func expand(template string, values []argument) (expanded, error) {
	template, _, _ = strings.Cut(template, "#")
	template, query, _ := strings.Cut(template, "?")
	var segments []string
	for segment := range strings.SplitSeq(strings.TrimPrefix(template, "/"), "/") {
		made, filled, err := expandSegment(segment, values)
		if err != nil {
			return expanded{}, err
		}
		if plain := strings.ToLower(unescape(made)); filled != nil && (plain == "." || plain == ".." || plain == "") {
			return expanded{}, filled.fail(fmt.Errorf("%q cannot be a part of a path: servers take it for a step to another one", plain))
		}
		segments = append(segments, made)
	}
	return expanded{"/" + strings.Join(segments, "/"), query}, nil
}

// expandSegment gives the last argument that is in it as well.
func expandSegment(segment string, values []argument) (string, *argument, error) {
	var out strings.Builder
	var filled *argument
	for {
		before, after, open := strings.Cut(segment, "{")
		name, rest, closed := strings.Cut(after, "}")
		if !open || !closed {
			out.WriteString(literal(segment))
			return out.String(), filled, nil
		}
		out.WriteString(literal(before))
		for i := range values {
			if g := &values[i]; g.In == "path" && g.Name == name {
				text, err := g.pathText(g.value)
				if err != nil {
					return "", g, g.fail(err)
				}
				out.WriteString(text)
				filled = g
			}
		}
		segment = rest
	}
}

// literal is what a document writes into a path, with what an address cannot hold escaped.
func literal(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]) {
			out.WriteString(text[i : i+3])
			i += 2
			continue
		}
		out.WriteString(escape(text[i:i+1], "!$&'()*+,;=:@"))
	}
	return out.String()
}

func queryOf(fixed string, values []argument) (string, error) {
	var pairs []string
	if fixed != "" {
		pairs = append(pairs, escape(fixed, "!$'()*+,;=:@/?&%"))
	}
	for i := range values {
		if g := &values[i]; g.In == "query" {
			more, err := g.queryPairs(g.value)
			if err != nil {
				return "", g.fail(err)
			}
			pairs = append(pairs, more...)
		}
	}
	return strings.Join(pairs, "&"), nil
}

func headersOf(request *http.Request, values []argument) error {
	var cookies []string
	for i := range values {
		switch g := &values[i]; g.In {
		case "header":
			text, err := g.headerText(g.value)
			if err != nil {
				return g.fail(err)
			}
			request.Header.Set(g.Name, text)
		case "cookie":
			pairs, err := g.cookiePairs(g.value)
			if err != nil {
				return g.fail(err)
			}
			cookies = append(cookies, pairs...)
		}
	}
	addCookies(request, cookies)
	return nil
}
