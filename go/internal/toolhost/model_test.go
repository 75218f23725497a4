package toolhost_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/fakemodel"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// withModel offers one model, "m".
func withModel(p models.Provider) toolhost.Options {
	return toolhost.Options{Models: func(name string) (toolhost.Model, bool) {
		return toolhost.Model{Provider: p, Name: "small-1"}, name == "m"
	}}
}

func granted(t *testing.T, name, source string) func(o toolhost.Options) *toolhost.Host {
	made := tool(t, name, source)
	made.Permissions.Models = []string{"m", "other"}
	return func(o toolhost.Options) *toolhost.Host { return newHost(t, o, made) }
}

func TestGenerate(t *testing.T) {
	p := fakemodel.New(fakemodel.Answer{Chunks: []string{"Hel", "lo"}, Usage: models.Usage{InputTokens: 5, OutputTokens: 2}})
	h := granted(t, "ask", `function invoke(ctx, args)
		local text, more = ctx.generate("m", {
			{ role = "system", content = "Be short." },
			{ content = { { text = "What is this?" }, { data = buffer.fromstring("\1\2"), media_type = "image/png" } } },
		}, { temperature = 0, max_tokens = 10, stop = "\n", seed = 7, system = "You are kind." })
		return { text = text, tokens = more.usage.input_tokens + more.usage.output_tokens }
	end`)(withModel(p))
	result, failed := call(h, "ask", "{}")
	require.Nil(t, failed)
	require.Equal(t, `{"text":"Hello","tokens":7}`, result)
	r := p.Requests()[0]
	require.Equal(t, "small-1", r.Model)
	require.Equal(t, "You are kind.", r.System)
	require.Equal(t, 10, r.MaxTokens)
	require.Equal(t, []string{"\n"}, r.Stop)
	require.Zero(t, *r.Temperature)
	require.Equal(t, int64(7), *r.Seed)
	require.Equal(t, []byte{1, 2}, r.Messages[1].Parts[1].Image.Data)
}

func TestGenerateIsRefused(t *testing.T) {
	for source, want := range map[string]string{
		`ctx.generate("n", "x")`:                                   "the model n is not granted",
		`ctx.generate("other", "x")`:                               `there is no model "other"`,
		`ctx.generate("m", {})`:                                    "the list of messages is empty",
		`ctx.generate("m", "x", { temprature = 1 })`:               `there is no option "temprature" (did you mean "temperature"?); there are max_tokens, seed, stop, system, temperature, timeout, tools`,
		`ctx.generate("m", { { role = "robot", content = "x" } })`: "role must be system, user or assistant",
		`ctx.generate(nil, "x")`:                                   "argument 1 must be the name of a model, got nil",
		`ctx.generate_json("m", "x")`:                              "argument 3 must be a JSON Schema",
		`ctx.generate_json("m", "x", { type = "nonsense" })`:       "argument 3 is not a JSON Schema: /type: ",
		`for _ in ctx.generate_stream("m", "x") do end`:            "no answer is left",
	} {
		h := granted(t, "ask", "function invoke(ctx) "+source+" end")(withModel(fakemodel.New()))
		_, failed := call(h, "ask", "{}")
		require.NotNil(t, failed, source)
		require.Contains(t, failed.Message, want, source)
	}
}

func TestTokenLimitHoldsForTheWholeCall(t *testing.T) {
	used := models.Usage{InputTokens: 40, OutputTokens: 20}
	o := withModel(fakemodel.New(fakemodel.Answer{Text: "a", Usage: used}, fakemodel.Answer{Text: "b", Usage: used}, fakemodel.Answer{Text: "c", Usage: used}))
	o.Tokens = 100
	h := granted(t, "ask", `function invoke(ctx) for i = 1, 3 do ctx.generate("m", "x") end end`)(o)
	_, failed := call(h, "ask", "{}")
	require.Contains(t, failed.Message, "token limit")
	require.Equal(t, "limit", failed.Detail)
}

func TestGenerateJSON(t *testing.T) {
	p := fakemodel.New(fakemodel.Answer{Text: "Sure: {\"age\": \"x\"}"}, fakemodel.Answer{Text: "```json\n{\"age\": 9007199254740993}\n```"})
	h := granted(t, "ask", `function invoke(ctx)
		return ctx.generate_json("m", "How old?", { type = "object", properties = { age = { type = "integer" } }, required = { "age" } })
	end`)(withModel(p))
	result, failed := call(h, "ask", "{}")
	require.Nil(t, failed)
	require.Equal(t, `{"age":9007199254740993}`, result)
	require.Len(t, p.Requests(), 2)
}

// Chunks reach the script as they arrive: the second is only made when the first was there.
func TestGenerateStreamGivesChunksAsTheyArrive(t *testing.T) {
	first := make(chan struct{})
	p := models.ProviderFunc(func(ctx context.Context, r *models.Request, emit func(models.Event) error) (*models.Response, error) {
		c := models.NewCollector(r, emit)
		if err := c.Text("one"); err != nil {
			return c.Fail(err)
		}
		select {
		case <-first:
		case <-ctx.Done():
			return c.Fail(ctx.Err())
		}
		if err := c.Text("two"); err != nil {
			return c.Fail(err)
		}
		return c.End(models.StopEnd)
	})
	h := granted(t, "ask", `function invoke(ctx)
		for chunk in ctx.generate_stream("m", "x") do ctx.emit(chunk) end
		for chunk in ctx.generate_stream("m", "x") do break end
	end`)(withModel(p))
	sink := &sink{emitted: func(string) { sync.OnceFunc(func() { close(first) })() }}
	var once sync.Once
	sink.emitted = func(string) { once.Do(func() { close(first) }) }
	_, failed := h.Call(context.Background(), toolhost.Request{Tool: "ask", Sink: sink})
	require.Nil(t, failed)
	require.Equal(t, []string{`{"text":"one"}`, `{"text":"two"}`}, sink.chunks)
}

func calls(list ...models.ToolCall) fakemodel.Answer { return fakemodel.Answer{Calls: list} }

func TestAgents(t *testing.T) {
	p := fakemodel.New(
		calls(models.ToolCall{ID: "1", Name: "add", Arguments: []byte(`{"a":1,"b":2}`)}, models.ToolCall{ID: "2", Name: "add", Arguments: []byte(`{"a":"x"}`)}),
		fakemodel.Answer{Chunks: []string{"It is ", "3."}},
		fakemodel.Answer{Text: "Bye."},
		fakemodel.Answer{Text: "Once."},
	)
	maker := tool(t, "maker", `local haivivi = require("haivivi")
	function invoke(ctx)
		local Notes = setmetatable({}, { __index = haivivi.context.Provider })
		function Notes.get_context(_, query) return { about = query } end
		haivivi.agent.register_context_provider(setmetatable(haivivi.context.Provider.new({ name = "notes" }), { __index = Notes }))
		local agent = ctx.create_agent("helper", { prompt = "You add.", model = "m", memory = { recent = 1 }, tools = { "add" } })
		local seen = {}
		agent:input("What is 1 + 2?")
		for chunk in agent:iter() do table.insert(seen, chunk.text or chunk.type) end
		local waits = agent:needs_input()
		agent:input({ content = { { text = "Thanks" } } })
		local bye = agent:collect()
		agent:close()
		local ok, err = pcall(agent.input, agent, "x")
		return { seen = seen, waits = waits, bye = bye, closed = err.code, once = ctx.generate("m", "Add.", { tools = { "add" } }) }
	end`)
	maker.Permissions.Models, maker.Permissions.Tools = []string{"m"}, []string{"add"}
	h := newHost(t, withModel(p), maker, tool(t, "add", `function invoke(ctx, args) return args.a + args.b end`))
	result, failed := call(h, "maker", "{}")
	require.Nil(t, failed)
	require.Equal(t, `{"bye":"Bye.","closed":"closed","once":"Once.","seen":["tool_call","tool_call","tool_result","tool_result","It is ","3."],"waits":true}`, result)
	requests := p.Requests()
	require.Contains(t, requests[0].System, "You add.")
	require.Contains(t, requests[0].System, `notes: {"about":"What is 1 + 2?"}`)
	require.Equal(t, "3", requests[1].Messages[2].Parts[0].Result.Text)
	require.True(t, requests[1].Messages[2].Parts[1].Result.IsError)
}

// An agent of a file is a tool like others.
func TestAgentFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "helper.yaml"), []byte("name: helper\ndescription: Helps.\nagent: {model: m, prompt: You add., tools: [add]}\n"), 0o644))
	files, err := module.RootFS(dir)
	require.NoError(t, err)
	defer files.Close()
	loaded, err := tooldef.Load(context.Background(), tooldef.Options{Files: files, Root: dir, Dirs: []string{"."}})
	require.NoError(t, err)
	require.Empty(t, loaded.Errors())
	helper, found := loaded.Find("helper")
	require.True(t, found)
	p := fakemodel.New(calls(models.ToolCall{ID: "1", Name: "add", Arguments: []byte(`{"a":1,"b":2}`)}), fakemodel.Answer{Chunks: []string{"It is", " 3."}})
	h := newHost(t, withModel(p), helper, tool(t, "add", `function invoke(ctx, args) return args.a + args.b end`))
	var told sink
	answer, failed := h.Call(context.Background(), toolhost.Request{Tool: "helper", Args: []byte(`{"input":"1 + 2?"}`), Sink: &told})
	require.Nil(t, failed)
	require.Equal(t, `"It is 3."`, string(answer.JSON))
	require.Len(t, told.chunks, 4)
	require.Equal(t, "1 + 2?", p.Requests()[0].Messages[0].Text())
	_, failed = call(h, "helper", "{}")
	require.Equal(t, "missing required parameter: input", failed.Message)
}

// An agent takes what a model is given otherwise, whether context providers have something to say or not.
func TestAgentsTakePictures(t *testing.T) {
	for name, register := range map[string]string{"alone": "", "with a context provider": `
		local tide = haivivi.context.Provider.new({ name = "tide" })
		function tide:get_context(query) return { asked = query } end
		haivivi.agent.register_context_provider(tide)`} {
		p := fakemodel.New(fakemodel.Answer{Text: "A cat."})
		h := granted(t, "ask", `local haivivi = require("haivivi")
		function invoke(ctx) `+register+`
			local agent = ctx.create_agent("a", { model = "m", stop = {}, tools = {} })
			local given = { content = { { text = "What is this?" }, { data = buffer.fromstring("\0\255"), media_type = "image/png" } } }
			agent:input(given)
			return { agent:collect(), type(given.content[2].data) }
		end`)(withModel(p))
		result, failed := call(h, "ask", "{}")
		require.Nil(t, failed, name)
		require.Equal(t, `["A cat.","buffer"]`, result, name)
		r := p.Requests()[0]
		require.Equal(t, "What is this?", r.Messages[0].Parts[0].Text, name)
		require.Equal(t, &models.Image{Data: []byte{0, 255}, MediaType: "image/png"}, r.Messages[0].Parts[1].Image, name)
		if register != "" {
			require.Contains(t, r.System, `tide: {"asked":"What is this?"}`)
		}
	}
}

// A loop over an answer that is left early: what comes next is the answer to the next input, wherever that was.
func TestAgentsAfterABreak(t *testing.T) {
	for _, at := range []string{"a", "b", "tool_call"} {
		p := fakemodel.New(fakemodel.Answer{Chunks: []string{"a", "b"}, Calls: []models.ToolCall{{ID: "1", Name: "add", Arguments: []byte(`{"a":1,"b":2}`)}}},
			fakemodel.Answer{Text: "new"}, fakemodel.Answer{Text: "last"})
		ask := tool(t, "ask", `function invoke(ctx, args)
			local agent = ctx.create_agent("a", { model = "m", tools = { "add" } })
			agent:input("go")
			for chunk in agent:iter() do if chunk.text == args.at or chunk.type == args.at then break end end
			agent:input("stop")
			local new = agent:collect()
			agent:input("on")
			return { new, agent:collect(), agent:needs_input() }
		end`)
		ask.Permissions.Models, ask.Permissions.Tools = []string{"m"}, []string{"add"}
		h := newHost(t, withModel(p), ask, tool(t, "add", `function invoke(ctx, args) return args.a + args.b end`))
		result, failed := call(h, "ask", `{"at":"`+at+`"}`)
		require.Nil(t, failed, at)
		require.Equal(t, `["new","last",true]`, result, at)
		messages := p.Requests()[1].Messages
		require.Equal(t, "stop", messages[len(messages)-1].Text(), at)
		require.Equal(t, map[string]int{"a": 3, "b": 4, "tool_call": 4}[at], len(messages), at)
	}
}
