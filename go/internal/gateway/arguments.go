package gateway

import (
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// IsInnerName says whether the name of a tool is that of a function of a source.
func IsInnerName(name string) bool { return strings.HasPrefix(name, innerPrefix) }

// InnerName is the name of a function in the pipeline.
func InnerName(c *catalog.Callable) string { return innerName(c) }

// Arguments are those of a function as its tool takes them; "body" of an operation is its request body.
func Arguments(c *catalog.Callable, args map[string]any) ([]byte, error) {
	if c.Scope.Kind == catalog.MCP {
		return jsonvalue.Encode(args)
	}
	body, given := args[bodyKey]
	if !given || c.Body == nil {
		text, err := jsonvalue.Encode(args)
		if err != nil || c.Params == nil && c.Body == nil {
			return []byte("{}"), err
		}
		if c.Params == nil {
			return pipelineArgs(c, "", string(text), false)
		}
		return pipelineArgs(c, string(text), "", false)
	}
	delete(args, bodyKey)
	params, err := jsonvalue.Encode(args)
	if err != nil {
		return nil, err
	}
	text, err := jsonvalue.Encode(body)
	if err != nil {
		return nil, err
	}
	if c.Params == nil {
		return pipelineArgs(c, "", string(text), false)
	}
	return pipelineArgs(c, string(params), string(text), false)
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
