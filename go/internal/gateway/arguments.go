package gateway

import (
	"maps"
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// IsInnerName says whether the name of a tool is that of a function of a source.
func IsInnerName(name string) bool { return strings.HasPrefix(name, innerPrefix) }

// Arguments are those of a function as its tool takes them, in one table: beside the parameters of an operation, "body"
// is its request body, and where it has no parameters the table is that body itself.
func Arguments(c *catalog.Callable, args map[string]any) ([]byte, error) {
	if c.Scope.Kind == catalog.MCP || c.Params == nil && c.Body == nil {
		return jsonvalue.Encode(args)
	}
	table := map[string]any{}
	body, given := args[bodyKey]
	if given && c.Body != nil {
		table[bodyKey] = body
		args = maps.Clone(args)
		delete(args, bodyKey)
	}
	switch {
	case c.Params != nil:
		table[paramsKey] = args
	case !given:
		table[bodyKey] = args
	}
	return jsonvalue.Encode(table)
}

// Shown is the result of a function, as a script would get it: a JSON tree, or a text.
func Shown(c *catalog.Callable, answer []byte) (any, error) {
	result, err := resultOf(c, &toolhost.Answer{JSON: answer})
	if err != nil {
		return nil, err
	}
	kind, text, err := result.as(sdkmod.Direct, authorityOf(c.Scope))
	if err != nil || kind == sdkmod.Absent {
		return nil, err
	}
	if kind == sdkmod.Text {
		return text, nil
	}
	return jsonvalue.Decode([]byte(text), jsonvalue.Options{})
}
