package gateway

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/finder"
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// Bounds of what listings give at once.
const (
	pageSize     = 100
	searchTokens = 2000
	minTokens    = 50 // room for one name at least
	maxTokens    = 20_000
	maxDocs      = 20 // names of one get_function_docs
)

// sdkFace are the tools of the default face.
func (g *Gateway) sdkFace() []face {
	faces := []face{
		{
			name: "list_apis", readOnly: true, run: g.listAPIs,
			description: "List the sources whose functions execute_script can call.",
			params:      `{"type":"object","properties":{},"additionalProperties":false}`,
		},
		{
			name: "list_functions", readOnly: true, run: g.listFunctions,
			description: "List functions, a page at a time. With many, search_docs is quicker.",
			params: `{"type":"object","properties":{
				"api":{"type":"string","description":"Only those of this source"},
				"tag":{"type":"string","description":"Only those with this tag"},
				"text":{"type":"string","description":"Only those with this in name or description"},
				"cursor":{"type":"string","description":"next_cursor of the page before"}},"additionalProperties":false}`,
		},
		{
			name: "search_docs", readOnly: true, run: g.searchDocs,
			description: "Find functions for a task. Gives their signatures, best first; use words of the task, as \"create issue\".",
			params: `{"type":"object","properties":{
				"query":{"type":"string"},
				"max_tokens":{"type":"integer","minimum":1,"description":"About how much to give; 2000 if not said"}},
				"required":["query"],"additionalProperties":false}`,
		},
		{
			name: "get_function_docs", readOnly: true, run: g.functionDocs,
			description: "Full signature of a function with all its types. Read it before the first call of a function.",
			params: `{"type":"object","properties":{
				"name":{"type":"string","description":"As \"github.create_issue\"; several with commas"}},
				"required":["name"],"additionalProperties":false}`,
		},
		{
			name: "execute_script", run: g.executeScript,
			description: executeDescription,
			params: `{"type":"object","properties":{
				"script":{"type":"string","description":"Luau"},
				"timeout_ms":{"type":"integer","minimum":1}},
				"required":["script"],"additionalProperties":false}`,
		},
	}
	if g.options.Save != nil {
		faces = append(faces, g.saveFace())
	}
	return faces
}

const executeDescription = `Run one Luau script that calls functions as sdk.<source>.<function>{...} and returns only what you need. Prefer one script with loops over many calls.
- return value: gives result; print(...) goes to logs
- async.all{ function() return sdk.a.f{} end, ... } and async.map(list, fn) run calls in parallel
- a failed call raises an error table (message, server, tool, retryable): pcall catches it
- MCP results: structured content is a table, one text a string (json.decode(s) if it is JSON), else an array of items
- scratch.write(path, text), scratch.read(path), scratch.list(): files of this session
Scripts are type-checked before they run.
Example: local list = sdk.github.list_issues{ repo = "a/b" } return #list`

// apiEntry is a source in list_apis.
type apiEntry struct {
	Name        string `json:"name"`
	Source      string `json:"source"`
	Description string `json:"description,omitempty"`
	Functions   int    `json:"functions"`
	Status      string `json:"status,omitempty"`
}

// maxSummary is how many characters of a source's description are listed.
const maxSummary = 200

func (g *Gateway) listAPIs(ctx context.Context, _ map[string]any) (tooldef.Output, error) {
	g.awaitSources(ctx, "")
	list := []apiEntry{}
	c := g.Catalog()
	for _, u := range g.options.Upstreams {
		entry := apiEntry{Name: c.Ident(expectedOf(u)), Source: string(u.Kind())}
		if s := u.Source(); s != nil {
			entry.Description, entry.Functions = summary(s), len(s.Functions)
		}
		if status := u.Status(); status.State != Healthy {
			entry.Status = g.shownStatus(status)
		}
		list = append(list, entry)
	}
	return jsonOutput(list)
}

// shownStatus is how a source is, with the reason. One that failed and is tried again is not said to be on its way.
func (g *Gateway) shownStatus(s Status) string {
	if s.State == Healthy || s.Reason == "" {
		return string(s.State)
	}
	return string(Unhealthy) + ": " + spelling.Clip(g.options.Redact(s.Reason), maxSummary)
}

func summary(s *catalog.Source) string {
	for _, text := range []string{s.Description, s.Title, s.Instructions} {
		if text != "" {
			return firstLine(text, maxSummary)
		}
	}
	return ""
}

// firstLine is the beginning of a text, as one line. What nobody sees in it is shown: it may be meant for a model alone.
func firstLine(text string, most int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return visible.Line(spelling.Clip(strings.TrimSpace(line), most))
}

// functionEntry is a function in list_functions.
type functionEntry struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type functionPage struct {
	Functions  []functionEntry `json:"functions"`
	NextCursor string          `json:"next_cursor,omitempty"`
}

func (g *Gateway) listFunctions(ctx context.Context, args map[string]any) (tooldef.Output, error) {
	g.awaitSources(ctx, textArg(args, "api"))
	v := g.view()
	if api := textArg(args, "api"); api != "" && v.catalog.Source(api) == nil {
		return tooldef.Output{}, notFound(v.catalog.Unknown(api))
	}
	found, err := v.index().List(finder.ListOptions{
		Source: textArg(args, "api"), Tag: textArg(args, "tag"), Text: textArg(args, "text"), Cursor: textArg(args, "cursor"), Limit: pageSize,
	})
	if err != nil {
		return tooldef.Output{}, &toolhost.Error{Code: toolhost.BadRequest, Path: "/cursor", Message: err.Error()}
	}
	page := functionPage{Functions: []functionEntry{}, NextCursor: found.Next}
	for _, c := range found.Functions {
		if !g.hidden(c) {
			page.Functions = append(page.Functions, functionEntry{c.FullName(), firstLine(c.Description, 120)})
		}
	}
	return jsonOutput(page)
}

func notFound(err error) error {
	return &toolhost.Error{Code: toolhost.ToolError, Detail: "not_found", Message: err.Error()}
}

// hidden says whether the policy denies every call of a function: a model need not know of it.
func (g *Gateway) hidden(c *catalog.Callable) bool {
	verdict := judge(g.options.Policy, c)
	return verdict.denied()
}

func (g *Gateway) searchDocs(ctx context.Context, args map[string]any) (tooldef.Output, error) {
	g.awaitSources(ctx, "")
	v := g.view()
	tokens := numberArg(args, "max_tokens")
	if tokens == 0 {
		tokens = searchTokens
	}
	query := textArg(args, "query")
	hits := v.index().Search(query, finder.SearchOptions{MaxTokens: min(max(tokens, minTokens), maxTokens)})
	var text strings.Builder
	for _, hit := range hits {
		if g.hidden(hit.Function) {
			continue
		}
		if hit.Signature == "" {
			text.WriteString(InnerName(hit.Function) + "\n")
		} else {
			text.WriteString(hit.Signature + "\n")
		}
		if hit.Snippet != "" {
			text.WriteString("  -- " + hit.Snippet + "\n")
		}
	}
	if text.Len() == 0 {
		return textOutput(fmt.Sprintf("nothing found for %q; list_apis and list_functions show what there is", spelling.Clip(query, 100)))
	}
	return textOutput(text.String())
}

func (g *Gateway) functionDocs(ctx context.Context, args map[string]any) (tooldef.Output, error) {
	g.awaitSources(ctx, textArg(args, "name"))
	v := g.view()
	var parts []string
	for _, name := range strings.Split(textArg(args, "name"), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		c, err := v.catalog.Find(name)
		if err != nil {
			return tooldef.Output{}, notFound(err)
		}
		if len(parts) == maxDocs {
			return tooldef.Output{}, &toolhost.Error{Code: toolhost.BadRequest, Path: "/name", Message: fmt.Sprintf("at most %d names at once", maxDocs)}
		}
		parts = append(parts, luautype.Docs(g.withSample(c)))
	}
	if len(parts) == 0 {
		return tooldef.Output{}, &toolhost.Error{Code: toolhost.BadRequest, Path: "/name", Message: "name is empty: give the name of a function, as search_docs shows it"}
	}
	return textOutput(strings.Join(parts, "\n"))
}

func (g *Gateway) executeScript(ctx context.Context, args map[string]any) (tooldef.Output, error) {
	limit := time.Duration(numberArg(args, "timeout_ms")) * time.Millisecond
	t, err := g.execute(ctx, textArg(args, "script"), limit, false)
	if err != nil {
		return tooldef.Output{}, err
	}
	return jsonOutput(t)
}
