package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/tooldef"
)

const anything = `{"type":"object"}`

// definitions are the tools that the suite names. What they answer is what it looks for.
var definitions = []struct{ name, description, params, script string }{
	{"test_simple_text", "Gives a text", anything, `
function invoke()
	return "This is a simple text response for testing."
end`},
	{"echo", "Gives its arguments", anything, `
function invoke(ctx, args)
	return args
end`},
	{"needs_approval", "Runs when someone approved it", anything, `
function invoke(ctx, args)
	return "approved: " .. tostring(args.what)
end`},
	{"test_error_handling", "Fails", anything, `
function invoke()
	error({ message = "This tool intentionally returns an error for testing" })
end`},
	{"test_tool_with_logging", "Logs three times", anything, `
function invoke(ctx)
	ctx.log.info("Tool execution started")
	__native.sleep(50)
	ctx.log.info("Tool processing data")
	__native.sleep(50)
	ctx.log.info("Tool execution completed")
	return "Tool with logging executed successfully"
end`},
	{"test_logging_tool", "Logs once", anything, `
function invoke(ctx)
	ctx.log.info("test_logging_tool executed")
	return "logged"
end`},
	{"test_tool_with_progress", "Tells its progress", anything, `
function invoke(ctx)
	for _, step in { 0, 50, 100 } do
		ctx.progress(step, 100, "Completed step " .. step .. " of 100")
		__native.sleep(50)
	end
	return "done"
end`},
	{"test_streaming_elicitation", "Tells its progress, and asks nothing", anything, `
function invoke(ctx)
	ctx.progress(1, 2)
	ctx.progress(2, 2)
	return "done"
end`},
	{"test_trigger_tool_change", "Changes the list of tools", anything, `
function invoke()
	return "changed"
end`},
	{"test_elicitation", "Asks the user for a name", `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`, asking(`
	args.message, {
		type = "object",
		properties = { username = { type = "string", description = "Your preferred username" } },
		required = { "username" },
	}`)},
	{"test_elicitation_sep1034_defaults", "Asks with defaults", anything, asking(`
	"Test defaults for primitives", {
		type = "object",
		properties = {
			name = { type = "string", description = "User name", default = "John Doe" },
			age = { type = "integer", description = "User age", default = 30 },
			score = { type = "number", description = "User score", default = 95.5 },
			status = { type = "string", description = "User status", enum = { "active", "inactive", "pending" }, default = "active" },
			verified = { type = "boolean", description = "Verification status", default = true },
		},
	}`)},
	{"test_elicitation_sep1330_enums", "Asks for choices", anything, asking(`
	"Test enum schemas", {
		type = "object",
		properties = {
			untitledSingle = { type = "string", enum = { "option1", "option2", "option3" } },
			titledSingle = { type = "string", oneOf = {
				{ const = "value1", title = "First Option" },
				{ const = "value2", title = "Second Option" },
				{ const = "value3", title = "Third Option" },
			} },
			legacyEnum = { type = "string", enum = { "opt1", "opt2", "opt3" }, enumNames = { "Option One", "Option Two", "Option Three" } },
			untitledMulti = { type = "array", minItems = 1, maxItems = 3, items = { type = "string", enum = { "option1", "option2", "option3" } } },
			titledMulti = { type = "array", minItems = 1, maxItems = 3, items = { anyOf = {
				{ const = "value1", title = "First Choice" },
				{ const = "value2", title = "Second Choice" },
				{ const = "value3", title = "Third Choice" },
			} } },
		},
	}`)},
	{"test_input_required_result_elicitation", "Asks for a name between two requests", anything, asksName},
	{"test_input_required_result_capabilities", "Asks only who can be asked", anything, asksName},
	{"test_input_required_result_request_state", "Asks to confirm", anything, asksToConfirm},
	{"test_input_required_result_tampered_state", "Asks to confirm", anything, asksToConfirm},
	{"test_input_required_result_multi_round", "Asks twice", anything, `
function invoke(ctx)
	local function ask(message, field)
		local answer = ctx.elicit(message, { type = "object", properties = { [field] = { type = "string" } }, required = { field } })
		return answer.content[field]
	end
	local name = ask("Step 1: What is your name?", "name")
	local color = ask("Step 2: What is your favorite color?", "color")
	return "Multi-round complete: " .. name .. " likes " .. color
end`},
	{"json_schema_2020_12_tool", "Has a schema of many words", jsonSchema, `
function invoke(ctx, args)
	return args
end`},
	{"test_x_mcp_header", "Takes an argument that is in a header too", `{"type":"object","properties":{
		"region":{"type":"string","description":"mirrored into Mcp-Param-Region","x-mcp-header":"Region"},
		"level":{"type":"integer","description":"not mirrored"}}}`, `
function invoke(ctx, args)
	return "region=" .. tostring(args.region)
end`},
}

func asking(question string) string {
	return "\nfunction invoke(ctx, args)\n\tlocal answer = ctx.elicit(" + strings.TrimSpace(question) + `)
	return "Elicitation result: action=" .. answer.action .. ", content=" .. require("json").encode(answer.content or {})
end`
}

const asksName = `
function invoke(ctx)
	local answer = ctx.elicit("What is your name?", { type = "object", properties = { name = { type = "string" } }, required = { "name" } })
	return "Hello, " .. answer.content.name .. "!"
end`

const asksToConfirm = `
function invoke(ctx)
	local answer = ctx.elicit("Please confirm", { type = "object", properties = { ok = { type = "boolean" } }, required = { "ok" } })
	return "state-ok: " .. answer.action
end`

const jsonSchema = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object",
		"properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {
		"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"}, "email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]}, "else": {"required": ["email"]},
	"additionalProperties": false
}`

// set is a set of tools.
type set []*tooldef.Tool

func (s set) Tools() []*tooldef.Tool { return s }

func (s set) Find(name string) (*tooldef.Tool, bool) {
	for _, t := range s {
		if t.Name == name {
			return t, true
		}
	}
	return nil, false
}

// newSet makes the tools, and one more whose version says which set it is.
func newSet(version int) (set, error) {
	var all set
	for _, d := range definitions {
		t, err := newTool(d.name, d.description, d.params, d.script)
		if err != nil {
			return nil, err
		}
		t.Approve = d.name == "needs_approval"
		all = append(all, t)
	}
	if version > 0 {
		t, err := newTool("test_change", fmt.Sprintf("Is of change %d", version), anything, "\nfunction invoke() end")
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, nil
}

func newTool(name, description, params, script string) (*tooldef.Tool, error) {
	var doc any
	if err := json.Unmarshal([]byte(params), &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	compiled, err := schema.Compile(doc, name)
	if err != nil {
		return nil, err
	}
	return &tooldef.Tool{
		Name: name, Description: description, Params: compiled, Source: script, Chunk: "@tools/" + name + ".luau", Hash: name + description + script,
	}, nil
}
