package openapi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// contentText is the value of a parameter that has a media type.
func (p *parameter) contentText(v any) (string, error) {
	if kindOf(p.Content) == kindJSON {
		text, err := jsonvalue.Encode(v)
		return string(text), err
	}
	if text, ok := primitive(v); ok {
		return text, nil
	}
	return "", fmt.Errorf("it is written as %s: give a text", p.Content)
}

// pathText is a parameter as it stands in a path. It is always a part of one segment.
func (p *parameter) pathText(v any) (string, error) {
	if p.Content != "" {
		text, err := p.contentText(v)
		if err == nil && text == "" {
			err = errEmpty
		}
		return escapeAll(text), err
	}
	f, err := flatten(v)
	if err != nil {
		return "", err
	}
	if f.empty() || !f.list && !f.object && f.text == "" {
		return "", errEmpty
	}
	switch p.Style {
	case "label":
		if p.Explode {
			return "." + f.join(".", "=", escapeAll), nil
		}
		return "." + f.join(",", ",", escapeAll), nil
	case "matrix":
		return p.matrix(f), nil
	}
	if p.Explode {
		return f.join(",", "=", escapeAll), nil
	}
	return f.join(",", ",", escapeAll), nil
}

var errEmpty = errors.New("it is empty, and a part of a path cannot be")

func (p *parameter) matrix(f flat) string {
	name := escapeAll(p.Name)
	switch {
	case f.object && p.Explode:
		return ";" + f.join(";", "=", escapeAll)
	case f.list && p.Explode:
		var out strings.Builder
		for _, part := range f.parts {
			out.WriteString(";" + name + "=" + escapeAll(part.value))
		}
		return out.String()
	}
	return ";" + name + "=" + f.join(",", ",", escapeAll)
}

// queryPairs are the parts of a query, without & between them. The same form is that of forms.
func (p *parameter) queryPairs(v any) ([]string, error) {
	escapeValue := escapeAll
	if p.AllowReserved {
		escapeValue = escapeReserved
	}
	name := escapeAll(p.Name)
	if p.Content != "" {
		text, err := p.contentText(v)
		return []string{name + "=" + escapeValue(text)}, err
	}
	if p.Style == "deepObject" {
		var pairs []string
		err := deep(p.Name, v, 0, func(name, value string) {
			pairs = append(pairs, escapeAll(name)+"="+escapeValue(value))
		})
		return pairs, err
	}
	f, err := flatten(v)
	if err != nil || f.empty() {
		return nil, err
	}
	if p.Explode && (f.list || f.object) {
		return exploded(name, f, escapeValue), nil
	}
	text, err := p.delimited(f, escapeValue)
	return []string{name + "=" + text}, err
}

func exploded(name string, f flat, escapeValue func(string) string) []string {
	pairs := make([]string, 0, len(f.parts))
	for _, part := range f.parts {
		key := name
		if f.object {
			key = escapeAll(part.key)
		}
		pairs = append(pairs, key+"="+escapeValue(part.value))
	}
	return pairs
}

// delimited joins parts by what the style says. A part that has the delimiter itself could not be told from two, but
// for the comma: it is escaped within a part and not between them.
func (p *parameter) delimited(f flat, escapeValue func(string) string) (string, error) {
	delimiter, written := ",", ","
	switch p.Style {
	case "spaceDelimited":
		delimiter, written = " ", "%20"
	case "pipeDelimited":
		delimiter, written = "|", "%7C"
	}
	escapePart := escapeValue
	if f.list || f.object {
		escapePart = func(text string) string { return strings.ReplaceAll(escapeValue(text), ",", "%2C") }
		for _, part := range f.parts {
			if delimiter != "," && strings.Contains(part.key+part.value, delimiter) {
				return "", fmt.Errorf("its parts are separated by %q, and one of them has that in it: %.100q", delimiter, part.value)
			}
		}
	}
	return f.join(written, written, escapePart), nil
}

// headerText is a parameter as the value of a header.
func (p *parameter) headerText(v any) (text string, err error) {
	if p.Content != "" {
		text, err = p.contentText(v)
	} else {
		var f flat
		if f, err = flatten(v); err == nil {
			equals := ","
			if p.Explode {
				equals = "="
			}
			text = f.join(",", equals, func(s string) string { return s })
		}
	}
	if err == nil && !validHeaderValue(text) {
		err = errors.New("a header has no line ends and no control characters")
	}
	return text, err
}

// cookiePairs are the parts of a Cookie header, without "; " between them.
func (p *parameter) cookiePairs(v any) ([]string, error) {
	escapeValue := func(text string) string { return escape(text, cookieSafe) }
	if p.Content != "" {
		text, err := p.contentText(v)
		return []string{p.Name + "=" + escapeValue(text)}, err
	}
	f, err := flatten(v)
	if err != nil || f.empty() {
		return nil, err
	}
	if p.Explode && (f.list || f.object) {
		return exploded(p.Name, f, escapeValue), nil
	}
	return []string{p.Name + "=" + f.join(",", ",", escapeValue)}, nil
}

// cookieSafe are the characters, beside unreserved ones, that RFC 6265 allows and nobody takes for something else.
const cookieSafe = "!#$&'()*+/:<=>?@[]^`{|}"
