package upstream

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// headerText is a text as the value of one of the protocol's headers: as it is, or in base64 where a header cannot
// hold it.
func headerText(text string) string {
	plain := text == strings.TrimSpace(text) && !(strings.HasPrefix(text, "=?base64?") && strings.HasSuffix(text, "?="))
	for i := 0; i < len(text) && plain; i++ {
		plain = text[i] >= 0x20 && text[i] < 0x7f || text[i] == '\t'
	}
	if plain {
		return text
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}

// mirror is an argument that is sent in a header as well, so that what stands before a server can see it.
type mirror struct {
	header string
	path   []string // in the arguments
}

// Bounds of the headers of one request: how many, and the bytes of a name.
const (
	maxMirrors = 64
	maxHeader  = 128
)

// mirrors finds the arguments that a schema wants in headers. It is false where the schema breaks the rules for that:
// such a tool must not be used.
func mirrors(schema any) ([]mirror, bool) {
	m := &mirrorFinder{seen: map[string]bool{}, ok: true}
	m.walk(schema, nil)
	return m.found, m.ok
}

type mirrorFinder struct {
	found []mirror
	seen  map[string]bool
	ok    bool
}

func (m *mirrorFinder) walk(schema any, path []string) {
	object, _ := schema.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	for name, property := range properties {
		at := append(path[:len(path):len(path)], name)
		p, _ := property.(map[string]any)
		if wanted, has := p["x-mcp-header"]; has {
			header, _ := wanted.(string)
			switch kind, _ := p["type"].(string); {
			case !httpguts.ValidHeaderFieldName(header), len(header) > maxHeader, m.seen[strings.ToLower(header)], len(m.found) == maxMirrors,
				kind != "string" && kind != "integer" && kind != "boolean":
				m.ok = false
				return
			}
			m.seen[strings.ToLower(header)] = true
			m.found = append(m.found, mirror{header, at})
		}
		m.walk(property, at)
	}
}

// mirrored are the headers of one call.
func mirrored(wanted []mirror, args json.RawMessage) map[string]string {
	if len(wanted) == 0 {
		return nil
	}
	tree, err := jsonvalue.Decode(args, jsonvalue.Options{})
	if err != nil {
		return nil
	}
	headers := map[string]string{}
	for _, w := range wanted {
		value := tree
		for _, name := range w.path {
			object, _ := value.(map[string]any)
			value = object[name]
		}
		if text, ok := headerValue(value); ok {
			headers[w.header] = headerText(text)
		}
	}
	return headers
}

// headerValue is an argument as text: a text, a truth value or a whole number.
func headerValue(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), v == float64(int64(v))
	}
	return "", false
}
