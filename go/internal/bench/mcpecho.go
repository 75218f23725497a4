package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// The upstream of all lines about the gateway: a server of MCP on standard streams that costs next to nothing.

// upstreamFlags say how it is.
type upstreamFlags struct {
	functions int           // that it offers beside its own two
	late      time.Duration // before it reads its first message
}

// args are those of the process that serves it.
func (f upstreamFlags) args() []string {
	return []string{"-upstream", "-functions", fmt.Sprint(f.functions), "-late", f.late.String()}
}

// serveUpstream is the other process.
func serveUpstream(f upstreamFlags) error {
	time.Sleep(f.late)
	list, err := listing(f.functions)
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	var writing sync.Mutex
	answer := func(id json.RawMessage, kind, text string) error {
		line := make([]byte, 0, len(text)+64)
		line = append(append(append(line, `{"jsonrpc":"2.0","id":`...), id...), `,"`+kind+`":`...)
		line = append(append(line, text...), "}\n"...)
		writing.Lock()
		defer writing.Unlock()
		_, err := os.Stdout.Write(line)
		return err
	}
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return nil // the client has gone
		}
		var request struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name      string
				Arguments struct {
					Text string
					MS   int
				}
			}
		}
		if err := json.Unmarshal(line, &request); err != nil {
			return err
		}
		switch {
		case request.ID == nil:
		case request.Method == "initialize":
			err = answer(request.ID, "result", `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"upstream","version":"1"}}`)
		case request.Method == "tools/list":
			err = answer(request.ID, "result", list)
		case request.Method != "tools/call":
			err = answer(request.ID, "error", `{"code":-32601,"message":"no such method"}`)
		case request.Params.Name == "wait":
			go func() {
				time.Sleep(time.Duration(request.Params.Arguments.MS) * time.Millisecond)
				_ = answer(request.ID, "result", `{"content":[{"type":"text","text":"waited"}]}`)
			}()
		default:
			err = answer(request.ID, "result", `{"content":[{"type":"text","text":"`+request.Params.Arguments.Text+`"}]}`)
		}
		if err != nil {
			return err
		}
	}
}

const ownTools = `{"name":"echo","description":"Gives its text back.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}},` +
	`{"name":"wait","description":"Answers later.","inputSchema":{"type":"object","properties":{"ms":{"type":"integer"}},"required":["ms"]}}`

// listing is the result of tools/list, with functions as servers of issue trackers, chats and shops have them.
func listing(functions int) (string, error) {
	var text bytes.Buffer
	text.WriteString(`{"tools":[` + ownTools)
	for i := range functions {
		tool, err := json.Marshal(inventedTool(i))
		if err != nil {
			return "", err
		}
		text.WriteString("," + string(tool))
	}
	text.WriteString("]}")
	return text.String(), nil
}

var (
	verbs  = strings.Fields("create list update delete search archive assign merge export import approve reject publish rename move copy")
	things = strings.Fields("issue comment invoice customer order message channel repository branch release document folder event calendar ticket label milestone webhook secret team")
)

// inventedTool is one of many; after every pair of words was used, they come with a number.
func inventedTool(i int) map[string]any {
	verb, thing := verbs[i%len(verbs)], things[i/len(verbs)%len(things)]
	name := verb + "_" + thing
	if again := i / (len(verbs) * len(things)); again > 0 {
		name += fmt.Sprintf("_v%d", again+1)
	}
	field := func(kind, about string) map[string]any { return map[string]any{"type": kind, "description": about} }
	return map[string]any{
		"name":        name,
		"description": fmt.Sprintf("The %s operation on a %s of the workspace. Needs the right to %s; gives the %s as it is afterwards.", verb, thing, verb, thing),
		"inputSchema": map[string]any{
			"type": "object",
			"properties": map[string]any{
				"workspace":   field("string", "The workspace, by its short name"),
				thing + "_id": field("integer", "The number of the "+thing),
				"title":       field("string", "What people read in lists"),
				"labels":      map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": "Replaces those that there are"},
				"state":       map[string]any{"type": "string", "enum": []string{"open", "closed", "all"}},
			},
			"required": []string{"workspace", thing + "_id"},
		},
	}
}
