package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/server"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

func TestOpenAPI(t *testing.T) {
	tree := tool(t, "tree", "return args")
	tree.Title, tree.Tags, tree.Config = "A tree", []string{"plants"}, map[string]any{"key": "sk-hidden"}
	tree.Params = compiled(t, `{"type":"object","properties":{"root":{"$ref":"#/$defs/node"},"$ref":{"type":"string","default":"#/$defs/node"}},
		"$defs":{"node":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/$defs/node"}}, "back":{"$ref":"#"}}}}}`)
	tree.Result = compiled(t, `{"type":["object","null"],"const":{"$ref":"#"}}`)
	needs := tool(t, "needs", "return 1")
	needs.Params, needs.Approve = compiled(t, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`), true
	f := start(t, server.Options{Token: token, Version: "1"}, toolhost.Options{}, tree, echo(t), needs)
	a := f.do("GET", "/openapi.json", "", bearer+token)
	require.Equal(t, 200, a.status)
	require.NotContains(t, a.body, "sk-hidden")

	doc, err := openapi3.NewLoader().LoadFromData([]byte(a.body))
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context()))
	require.Equal(t, "3.1.0", doc.OpenAPI)
	operation := doc.Paths.Find("/tools/tree").Post
	require.Equal(t, "A tree", operation.Summary)
	params := operation.RequestBody.Value.Content["application/json"].Schema.Value
	require.Equal(t, "#/components/schemas/tree.params/$defs/node", params.Properties["root"].Ref)
	require.Equal(t, "#/$defs/node", params.Properties["$ref"].Value.Default, "a property that is only called so")
	require.Contains(t, a.body, `"const":{"$ref":"#"}`)
	require.NotNil(t, doc.Paths.Find("/tools/echo"))
	require.False(t, operation.RequestBody.Value.Required)
	require.Nil(t, operation.Parameters.GetByInAndName("header", "Approval"))
	second := doc.Paths.Find("/tools/needs").Post
	require.True(t, second.RequestBody.Value.Required)
	require.NotNil(t, second.Parameters.GetByInAndName("header", "Approval"))
	for _, path := range []string{"/health", "/tools/list", "/metrics", "/calls/{call}", "/calls/{call}/events"} {
		require.NotNil(t, doc.Paths.Find(path), path)
	}
}

// A schema with anchors gets an address of its own, as they are found from there.
func TestOpenAPIWithAnchors(t *testing.T) {
	anchored := echo(t)
	anchored.Params = compiled(t, `{"type":"object","properties":{"a":{"$ref":"#here"}},"$defs":{"x":{"$anchor":"here","type":"string"}}}`)
	f := start(t, server.Options{}, toolhost.Options{}, anchored)
	schemas := f.do("GET", "/openapi.json", "").tree(t)["components"].(map[string]any)["schemas"].(map[string]any)
	params := schemas["echo.params"].(map[string]any)
	require.Equal(t, "urn:hukilau:echo.params", params["$id"])
	require.Equal(t, map[string]any{"a": map[string]any{"$ref": "#here"}}, params["properties"])
}

func TestMetrics(t *testing.T) {
	slow := tool(t, "slow", "while true do end")
	slow.Timeout = 30 * time.Millisecond
	f := start(t, server.Options{Broken: func() []server.Broken { return make([]server.Broken, 2) }}, toolhost.Options{}, echo(t), slow)
	for range 3 {
		f.do("POST", "/tools/echo", "")
	}
	f.do("POST", "/tools/echo", "[")
	f.do("POST", "/tools/slow", "")
	f.do("POST", "/tools/nothing", "")
	a := f.do("GET", "/metrics", "")
	require.Equal(t, "text/plain; version=0.0.4; charset=utf-8", a.header.Get("Content-Type"))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(a.body))
	require.NoError(t, err)
	calls := map[string]float64{}
	for _, m := range families["hukilau_calls_total"].Metric {
		calls[m.Label[0].GetValue()+" "+m.Label[1].GetValue()] = m.Counter.GetValue()
	}
	require.Equal(t, map[string]float64{"echo ok": 3, "echo bad_request": 1, "slow timeout": 1}, calls)
	for _, m := range families["hukilau_call_seconds"].Metric {
		h := m.Histogram
		want := map[string]uint64{"echo": 4, "slow": 1}[m.Label[0].GetValue()]
		require.Equal(t, want, h.GetSampleCount())
		require.Equal(t, want, h.Bucket[len(h.Bucket)-1].GetCumulativeCount())
		if m.Label[0].GetValue() == "slow" {
			require.GreaterOrEqual(t, h.GetSampleSum(), 0.03)
			require.Zero(t, h.Bucket[0].GetCumulativeCount(), "none took a millisecond or less")
		}
	}
	gauge := func(name string) float64 { return families[name].Metric[0].Gauge.GetValue() }
	require.Equal(t, []float64{0, 0, 2, 2}, []float64{gauge("hukilau_calls_running"), gauge("hukilau_calls_waiting"), gauge("hukilau_tools"), gauge("hukilau_tools_broken")})
	require.Positive(t, gauge("hukilau_vm_idle_bytes"))
}
