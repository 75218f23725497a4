package upstream

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// Snapshot is what a server offers, as it was last read. It never changes; nil offers nothing.
type Snapshot struct {
	Version      string          // of the protocol
	Info         json.RawMessage // serverInfo
	Instructions string

	Tools     []Tool
	Resources []Item
	Templates []Item
	Prompts   []Item
	Warnings  []string // what of the lists was not taken, and why

	byName map[string]*Tool
	room   int64 // bytes that may still be taken while it is read
}

// mostRoom bounds the memory of a snapshot: a text of many small values becomes a hundred times as large.
const mostRoom = 128 << 20

func (s *Snapshot) decode(raw json.RawMessage) (any, error) {
	return jsonvalue.Decode(raw, jsonvalue.Options{Room: func(more int64) error {
		if s.room -= more; s.room < 0 {
			return errors.New("the lists of the server take too much memory")
		}
		return nil
	}})
}

// Tool is a tool as its server lists it.
type Tool struct {
	Raw          json.RawMessage // the whole entry
	Name         string
	Title        string
	Description  string
	InputSchema  any // JSON trees; nil: none
	OutputSchema any
	Hints        catalog.Hints

	mirrors []mirror
}

// Item is a resource, a template of resources or a prompt.
type Item struct {
	Raw json.RawMessage // the whole entry
	Key string          // what requests name it by: its URI, its template or its name
}

// Snapshot is what the server offers; nil until that is known. It outlives the connection.
func (s *Server) Snapshot() *Snapshot {
	if s.model != nil {
		return s.model.Snapshot()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshot
}

// tool finds a tool by its name; nil where there is none.
func (s *Snapshot) tool(name string) *Tool {
	if s == nil {
		return nil
	}
	return s.byName[name]
}

// same says whether two snapshots offer the same.
func (s *Snapshot) same(other *Snapshot) bool {
	if other == nil {
		return false
	}
	equal := func(a, b Item) bool { return string(a.Raw) == string(b.Raw) }
	return s.Instructions == other.Instructions && string(s.Info) == string(other.Info) && s.Version == other.Version &&
		slices.Equal(s.Warnings, other.Warnings) &&
		slices.EqualFunc(s.Tools, other.Tools, func(a, b Tool) bool { return string(a.Raw) == string(b.Raw) }) &&
		slices.EqualFunc(s.Resources, other.Resources, equal) && slices.EqualFunc(s.Templates, other.Templates, equal) &&
		slices.EqualFunc(s.Prompts, other.Prompts, equal)
}

// parseTool reads an entry of tools/list. The problem is "" where it is a tool.
func (s *Snapshot) parseTool(raw json.RawMessage) (Tool, string) {
	t := Tool{Raw: raw}
	tree, err := s.decode(raw)
	if err != nil {
		return t, err.Error()
	}
	object, _ := tree.(map[string]any)
	t.Name, _ = object["name"].(string)
	t.Title, _ = object["title"].(string)
	t.Description, _ = object["description"].(string)
	t.InputSchema, t.OutputSchema = object["inputSchema"], object["outputSchema"]
	if notes, ok := object["annotations"].(map[string]any); ok {
		t.Hints = catalog.Hints{
			ReadOnly: truth(notes["readOnlyHint"]), Destructive: truth(notes["destructiveHint"]),
			Idempotent: truth(notes["idempotentHint"]), OpenWorld: truth(notes["openWorldHint"]),
		}
		if title, ok := notes["title"].(string); ok && t.Title == "" {
			t.Title = title
		}
	}
	if t.Name == "" {
		return t, "it has no name"
	}
	return t, ""
}

func truth(v any) *bool {
	if b, ok := v.(bool); ok {
		return &b
	}
	return nil
}

// parseItem reads an entry of another list. key is the member that tells it from others.
func parseItem(raw json.RawMessage, key string) (Item, string) {
	i := Item{Raw: raw}
	members(raw, func(name, value []byte) {
		if string(name) == key {
			i.Key = str(value)
		}
	})
	if i.Key == "" {
		return i, "it has no " + key
	}
	return i, ""
}
