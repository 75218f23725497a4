package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/tooldef"
)

// face is one of the tools by which a client uses the gateway.
type face struct {
	name, description string
	params            string // JSON Schema
	readOnly          bool
	run               func(ctx context.Context, args map[string]any) (tooldef.Output, error)
}

// newFaces makes the tools of both faces. Those of one that is not served are inner ones.
func (g *Gateway) newFaces() error {
	g.byName = map[string]*tooldef.Tool{}
	for _, part := range []struct {
		faces []face
		other config.Face
	}{{g.sdkFace(), config.ProxyFace}, {g.proxyFace(), config.SDKFace}} {
		for _, f := range part.faces {
			t, err := g.newFace(f)
			if err != nil {
				return err
			}
			t.Inner = g.options.Face == part.other
			g.byName[t.Name] = t
			if !t.Inner {
				g.faces = append(g.faces, t)
			}
		}
	}
	return nil
}

func (g *Gateway) newFace(f face) (*tooldef.Tool, error) {
	doc, err := jsonvalue.Decode([]byte(f.params), jsonvalue.Options{})
	if err != nil {
		return nil, err
	}
	params, err := schema.Compile(doc, f.name)
	if err != nil {
		return nil, err
	}
	description := strings.TrimSpace(f.description)
	sum := sha256.Sum256([]byte(f.name + "\x00" + description + "\x00" + f.params))
	t := &tooldef.Tool{
		Name: f.name, Description: description, Params: params, Timeout: g.options.Timeout, Memory: g.options.Memory,
		Hash: hex.EncodeToString(sum[:]),
		Native: func(ctx context.Context, args any) (tooldef.Output, error) {
			table, _ := args.(map[string]any)
			return f.run(ctx, table)
		},
	}
	if f.readOnly {
		yes := true
		t.Annotations.ReadOnly = &yes
	}
	return t, nil
}

// textOutput is a result that is one text, in every face.
func textOutput(text string) (tooldef.Output, error) {
	encoded, err := jsonvalue.Encode(text)
	return tooldef.Output{JSON: encoded}, err
}

// jsonOutput is a result that MCP clients get as the text of its JSON alone: models would read it twice.
func jsonOutput(value any) (tooldef.Output, error) {
	text, err := marshal(value)
	if err != nil {
		return tooldef.Output{}, err
	}
	content, err := textContent(string(text))
	return tooldef.Output{JSON: text, MCP: content}, err
}

func textContent(text string) ([]byte, error) {
	type item struct {
		Text string `json:"text"`
		Type string `json:"type"`
	}
	return marshal(struct {
		Content [1]item `json:"content"`
	}{[1]item{{text, "text"}}})
}

func textArg(args map[string]any, name string) string {
	text, _ := args[name].(string)
	return text
}

func numberArg(args map[string]any, name string) int {
	n, _ := args[name].(float64)
	return int(n)
}

// marshal writes JSON as people and models read it: without escapes for HTML.
func marshal(value any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte{'\n'}), nil
}
