package upstream

import (
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// Source is what a snapshot offers, as the catalogue knows it.
func (s *Snapshot) Source(name, description string) *catalog.Source {
	source := &catalog.Source{Name: name, Kind: catalog.MCP, Description: description}
	if s == nil {
		return source
	}
	source.Instructions = s.Instructions
	if info, err := jsonvalue.Decode(s.Info, jsonvalue.Options{}); err == nil {
		said, _ := info.(map[string]any)
		source.Version, _ = said["version"].(string)
		if source.Title, _ = said["title"].(string); source.Title == "" {
			source.Title, _ = said["name"].(string)
		}
		if source.Description == "" {
			source.Description, _ = said["description"].(string)
		}
	}
	for i := range s.Tools {
		source.Functions = append(source.Functions, s.Tools[i].function())
	}
	return source
}

// function is a tool as the catalogue knows it.
func (t *Tool) function() catalog.Function {
	f := catalog.Function{Name: t.Name, Title: t.Title, Description: t.Description, Hints: t.Hints}
	f.Defs = map[string]any{}
	in := lift(t.InputSchema, "Input", f.Defs)
	if takes(in) {
		f.Params, _ = in.(map[string]any)
	}
	if t.OutputSchema != nil {
		f.Result = lift(t.OutputSchema, "Output", f.Defs)
	}
	return f
}

// takes says whether a schema of arguments lets any through.
func takes(schema any) bool {
	object, _ := schema.(map[string]any)
	for _, word := range []string{"properties", "patternProperties"} {
		if some, _ := object[word].(map[string]any); len(some) > 0 {
			return true
		}
	}
	for _, word := range []string{"$ref", "allOf", "anyOf", "oneOf"} {
		if object[word] != nil {
			return true
		}
	}
	switch more := object["additionalProperties"].(type) {
	case bool:
		return more
	case map[string]any:
		return true
	}
	return false
}

// lift gives a copy of a schema whose references all lead to defs, which gets what they refer to. Names that another
// schema has taken get a number. A reference to nowhere allows anything.
func lift(schema any, root string, defs map[string]any) any {
	l := &lifter{root: schema, name: root, defs: defs, taken: map[string]string{}}
	top, ok := schema.(map[string]any)
	if !ok {
		return l.copy(schema)
	}
	plain := maps.Clone(top)
	for _, word := range []string{"$defs", "definitions", "$schema", "$id"} {
		delete(plain, word)
	}
	return l.copy(plain)
}

type lifter struct {
	root  any
	name  string
	defs  map[string]any
	taken map[string]string // names by pointer
}

// named are the words whose members are names and not words.
var named = map[string]bool{"properties": true, "patternProperties": true, "$defs": true, "definitions": true, "dependentSchemas": true}

// literal are the words whose values are no schemas.
var literal = map[string]bool{"const": true, "enum": true, "default": true, "examples": true, "example": true, "required": true}

func (l *lifter) copy(schema any) any {
	switch v := schema.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = l.copy(item)
		}
		return list
	case map[string]any:
		return l.object(v)
	}
	return schema
}

func (l *lifter) object(v map[string]any) any {
	object := make(map[string]any, len(v))
	for word, value := range v {
		members, isObject := value.(map[string]any)
		switch {
		case word == "$ref":
			ref, _ := value.(string)
			name, found := l.definition(ref)
			if !found {
				continue
			}
			object["$ref"] = "#/$defs/" + jsonvalue.EscapePointer(name)
		case literal[word]:
			object[word] = value
		case word == "$defs" || word == "definitions": // what is used of them is lifted
		case named[word] && isObject:
			copied := make(map[string]any, len(members))
			for name, member := range members {
				copied[name] = l.copy(member)
			}
			object[word] = copied
		default:
			object[word] = l.copy(value)
		}
	}
	return object
}

// definition finds what a reference leads to, and makes a definition of it.
func (l *lifter) definition(ref string) (string, bool) {
	pointer, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil || !strings.HasPrefix(ref, "#") || pointer != "" && pointer[0] != '/' {
		return "", false
	}
	if name, ok := l.taken[pointer]; ok {
		return name, true
	}
	target, last, ok := l.find(pointer)
	if !ok {
		return "", false
	}
	name := l.free(last)
	l.taken[pointer] = name
	l.defs[name] = true // keeps the name while what it stands for is copied
	l.defs[name] = l.copy(target)
	return name, true
}

// pointerToken reads a part of a JSON pointer.
var pointerToken = strings.NewReplacer("~1", "/", "~0", "~")

// find follows a pointer from the root, and tells the last name on the way that is one.
func (l *lifter) find(pointer string) (target any, last string, ok bool) {
	target, last = l.root, l.name
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = pointerToken.Replace(token)
		switch v := target.(type) {
		case map[string]any:
			if target, ok = v[token]; !ok {
				return nil, "", false
			}
			if !named[token] {
				last = token
			}
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil, "", false
			}
			target = v[i]
		default:
			return nil, "", false
		}
	}
	switch target.(type) {
	case map[string]any, bool:
		return target, last, true
	}
	return nil, "", false
}

func (l *lifter) free(name string) string {
	free := name
	for n := 2; l.defs[free] != nil; n++ {
		free = fmt.Sprintf("%s%d", name, n)
	}
	return free
}
