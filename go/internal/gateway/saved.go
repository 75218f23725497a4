package gateway

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// SavedScript is a script that is to become a tool of its own.
type SavedScript struct {
	Name, Description string
	Params            map[string]any // JSON Schema of an object; nil: there are none
	Code              string         // its chunk gets the arguments as `args`
	By                string         // who saves it
}

// Wrapped is the script of a tool that a saved script is: invoke(ctx, args), around what the script says.
func (s *SavedScript) Wrapped() string {
	return `local async, json = require("async"), require("json")
function invoke(ctx, args)
	local said
	local function result(value) said = { value } end
	local function main()
` + strings.TrimRight(s.Code, "\n") + `
	end
	local returned = main()
	if said then return said[1] end
	return returned
end
`
}

// maxSavedParams bounds the schema of a saved script, in bytes as JSON: models read it with each list of tools.
const maxSavedParams = 32 << 10

func (g *Gateway) saveFace() face {
	return face{
		name: "save_script", run: g.saveScript,
		description: "Make a script that works a tool of its own. It reads its arguments from the global args.",
		params: `{"type":"object","properties":{
			"name":{"type":"string","pattern":"^[A-Za-z_][A-Za-z0-9_-]{0,63}$"},"description":{"type":"string","minLength":1,"maxLength":2000},
			"params":{"type":"object","description":"JSON Schema of args"},"code":{"type":"string"}},
			"required":["name","description","code"],"additionalProperties":false}`,
	}
}

// foreign finds what scripts have and tools have not.
var foreign = regexp.MustCompile(`:await\b|\bcall_tool\b|\bread_result\b|\bscratch\.|\bsdk\.files\.`)

func (g *Gateway) saveScript(ctx context.Context, args map[string]any) (tooldef.Output, error) {
	calling, _ := toolhost.CallingOf(ctx)
	s := SavedScript{
		Name: textArg(args, "name"), Description: textArg(args, "description"), Code: textArg(args, "code"), By: calling.Caller().Name,
	}
	s.Params, _ = args["params"].(map[string]any)
	if err := tooldef.CheckName(s.Name); err != nil {
		return tooldef.Output{}, &toolhost.Error{Code: toolhost.BadRequest, Path: "/name", Message: err.Error()}
	}
	if text, err := jsonvalue.Encode(s.Params); err != nil || len(text) > maxSavedParams {
		return tooldef.Output{}, &toolhost.Error{Code: toolhost.TooLarge, Path: "/params", Message: fmt.Sprintf("params may have %d bytes", maxSavedParams)}
	}
	g.awaitSources(ctx, named(s.Code))
	if _, _, err := g.ready(ctx, s.Code, false); err != nil {
		return tooldef.Output{}, err
	}
	if found := foreign.FindString(s.Code); found != "" {
		return tooldef.Output{}, &toolhost.Error{Code: toolhost.BadRequest, Path: "/code", Message: fmt.Sprintf(
			"a saved script has no %s: it calls functions as sdk.<source>.<function>{...}, each of which gives its result", found)}
	}
	if err := g.options.Save(ctx, s); err != nil {
		var refused *toolhost.Error
		if errors.As(err, &refused) {
			return tooldef.Output{}, refused
		}
		return tooldef.Output{}, &toolhost.Error{Code: toolhost.ToolError, Message: "the script cannot be saved: " + err.Error()}
	}
	return textOutput(fmt.Sprintf("saved: it is the tool %s now", s.Name))
}
