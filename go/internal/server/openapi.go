package server

import (
	"maps"
	"net/http"
	"slices"

	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/tooldef"
)

// openapi is GET /openapi.json: the server as an OpenAPI document, made of the tools.
func (s *Server) openapi(x *exchange) {
	paths, schemas := map[string]any{}, map[string]any{"Error": errorSchema(), "Pending": pendingSchema()}
	for _, t := range s.options.Host.Tools() {
		schemas[t.Name+".params"] = component(t.Params, t.Name+".params")
		if t.Result != nil {
			schemas[t.Name+".result"] = component(t.Result, t.Name+".result")
		}
		paths["/tools/"+t.Name] = map[string]any{"post": operation(t)}
	}
	maps.Copy(paths, fixedPaths())
	version := s.options.Version
	if version == "" {
		version = "0"
	}
	doc := map[string]any{
		"openapi": "3.1.0",
		"info":    map[string]any{"title": "Tools", "version": version},
		"paths":   paths,
		"components": map[string]any{
			"schemas": schemas, "responses": responses(),
			"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}},
		},
	}
	if s.guard.hasToken {
		doc["security"] = []any{map[string]any{"token": []any{}}}
	}
	x.value(http.StatusOK, doc)
}

func ref(name string) map[string]any { return map[string]any{"$ref": "#/components/" + name} }

func jsonBody(schema map[string]any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

func operation(t *tooldef.Tool) map[string]any {
	var result any = true
	if t.Result != nil {
		result = ref("schemas/" + t.Name + ".result")
	}
	answers := map[string]any{
		"200": map[string]any{"description": "The result.", "content": jsonBody(map[string]any{
			"type": "object", "properties": map[string]any{"result": result}, "required": []any{"result"},
		})},
		"202":     ref("responses/Pending"),
		"default": ref("responses/Error"),
	}
	o := map[string]any{
		"operationId": t.Name, "description": t.Description, "responses": answers,
		"requestBody": map[string]any{"content": jsonBody(ref("schemas/" + t.Name + ".params")), "required": needsArguments(t.Params)},
	}
	headers := []any{
		header("Idempotency-Key", "The call runs once, however often it is sent."),
		header("Session-Id", "Whose state the call works on."),
		header("Prefer", "respond-async: the call runs on its own."),
	}
	if t.Approve {
		headers = append(headers, header("Approval", "The id of the approval that was given for this very call."))
	}
	o["parameters"] = headers
	if t.Title != "" {
		o["summary"] = t.Title
	}
	if len(t.Tags) > 0 {
		o["tags"] = texts(t.Tags)
	}
	return o
}

// needsArguments says whether a call without a body is refused.
func needsArguments(params *schema.Schema) bool {
	empty := map[string]any{}
	return len(params.Validate(params.Defaults(empty))) > 0
}

// fixedPaths are those that a server has whatever its tools are.
func fixedPaths() map[string]any {
	text, anything := map[string]any{"type": "string"}, map[string]any{"type": "object"}
	call := []any{map[string]any{"name": "call", "in": "path", "required": true, "schema": text}}
	states := map[string]any{"enum": []any{"pending", "approved", "denied", "expired", "running", "done", "interrupted"}}
	get := func(id, description, kind string, schema map[string]any) map[string]any {
		return map[string]any{"operationId": id, "description": description, "responses": map[string]any{
			"200":     map[string]any{"description": "The answer.", "content": map[string]any{kind: map[string]any{"schema": schema}}},
			"default": ref("responses/Error"),
		}}
	}
	health := get("health", "Whether the server takes calls.", "application/json", anything)
	health["responses"].(map[string]any)["503"] = map[string]any{"description": "The server ends.", "content": jsonBody(anything)}
	health["security"] = []any{} // it needs no token
	return map[string]any{
		"/health":     map[string]any{"get": health},
		"/tools/list": map[string]any{"get": get("tools.list", "The tools, in the form that models take.", "application/json", anything)},
		"/metrics":    map[string]any{"get": get("metrics", "Counts and times for Prometheus.", "text/plain", text)},
		"/calls/{call}": map[string]any{
			"parameters": call,
			"get": get("calls.get", "How far a call is that runs on its own or waits for approval.", "application/json", map[string]any{
				"type": "object", "required": []any{"call", "tool", "state"}, "properties": map[string]any{
					"call": text, "tool": text, "created": text, "finished": text, "result": true, "error": true, "state": states,
				}}),
			"delete": map[string]any{
				"operationId": "calls.cancel", "description": "Cancels a call that runs on its own, or withdraws one that waits for approval.",
				"responses": map[string]any{"204": map[string]any{"description": "The call ends."}, "default": ref("responses/Error")},
			},
		},
		"/calls/{call}/events": map[string]any{
			"parameters": append([]any{header("Last-Event-ID", "The number of the last event that was seen.")}, call...),
			"get":        get("calls.events", "What the call tells, as server-sent events.", "text/event-stream", text),
		},
	}
}

func header(name, description string) map[string]any {
	return map[string]any{"name": name, "in": "header", "description": description, "schema": map[string]any{"type": "string"}}
}

func responses() map[string]any {
	return map[string]any{
		"Error":   map[string]any{"description": "Why there is no result.", "content": jsonBody(ref("schemas/Error"))},
		"Pending": map[string]any{"description": "The call runs on its own, or waits for approval: see GET /calls/{call}.", "content": jsonBody(ref("schemas/Pending"))},
	}
}

func errorSchema() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{"type": "object", "required": []any{"error"}, "properties": map[string]any{
		"error": map[string]any{"type": "object", "required": []any{"code", "message"}, "properties": map[string]any{
			"code": text, "message": text, "path": text, "detail": text, "data": true,
		}},
	}}
}

func pendingSchema() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{"type": "object", "required": []any{"call", "state"}, "properties": map[string]any{
		"call": text, "state": text, "message": text, "approval": map[string]any{"type": "object"},
	}}
}

// Keywords of JSON Schema whose value is not a schema, and those whose members are named by the author.
var (
	notSchemas = map[string]bool{"const": true, "enum": true, "default": true, "example": true, "examples": true}
	byName     = map[string]bool{"properties": true, "patternProperties": true, "$defs": true, "definitions": true, "dependentSchemas": true}
)

// component is a schema as a part of the document.
func component(s *schema.Schema, name string) any {
	doc := document(s)
	object, ok := doc.(map[string]any)
	if _, own := object["$id"]; ok && !own && hasAnchors(doc) {
		named := maps.Clone(object) // anchors are found from a schema with an address only
		named["$id"] = "urn:hukilau:" + name
		return named
	}
	return moved(doc, "#/components/schemas/"+name)
}

func hasAnchors(value any) bool {
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, hasAnchors)
	case map[string]any:
		for key, member := range v {
			if key == "$anchor" || key == "$dynamicAnchor" || key == "$recursiveAnchor" || hasAnchors(member) {
				return true
			}
		}
	}
	return false
}

// moved is a schema whose references to itself hold at its place within another document.
func moved(schema any, place string) any {
	switch v := schema.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = moved(v[i], place)
		}
		return list
	case map[string]any:
		if _, own := v["$id"]; own {
			return v // its references are about itself
		}
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = movedKeyword(key, value, place)
		}
		return out
	}
	return schema
}

func movedKeyword(key string, value any, place string) any {
	target, text := value.(string)
	members, object := value.(map[string]any)
	switch {
	case notSchemas[key]:
		return value
	case key == "$ref" && text && len(target) > 0 && target[0] == '#':
		return place + target[1:]
	case byName[key] && object:
		out := make(map[string]any, len(members))
		for name, member := range members {
			out[name] = moved(member, place)
		}
		return out
	}
	return moved(value, place)
}
