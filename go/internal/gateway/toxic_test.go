package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
)

// garbage puts noise in the place of what comes by: lines of it, or without an end. The heads of answers may stay.
type garbage struct {
	Heads bool `json:"heads"`
	Lines bool `json:"lines"`
}

func (g *garbage) Pipe(stub *toxics.ToxicStub) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case c := <-stub.Input:
			if c == nil {
				stub.Close()
				return
			}
			from := 0
			if head := strings.Index(string(c.Data), "\r\n\r\n"); g.Heads && head >= 0 {
				from = head + 4
			}
			for i := from; i < len(c.Data); i++ {
				c.Data[i] = byte(i*7) | 0x80
				if g.Lines && i%20 == 19 {
					c.Data[i] = '\n'
				}
			}
			stub.Output <- &stream.StreamChunk{Data: c.Data, Timestamp: c.Timestamp}
		}
	}
}

func init() {
	toxics.Register("garbage", new(garbage))
	zerolog.SetGlobalLevel(zerolog.Disabled) // toxics write to a logger of their own
}

// proxied is a site behind a proxy that does harm.
type proxied struct {
	*site
	proxy  *toxiproxy.Proxy
	source *gateway.MCPSource
	f      *fixture
}

func behindProxy(t *testing.T, c upstream.Config) *proxied {
	s := newSite(t, `[{"name":"change","inputSchema":{"type":"object"}},{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]`)
	logger := zerolog.Nop()
	proxy := toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), logger), "site", "127.0.0.1:0", strings.TrimPrefix(s.Server.URL, "http://"))
	require.NoError(t, proxy.Start())
	t.Cleanup(proxy.Stop)
	c.URL = "http://" + proxy.Listen
	m := s.source(t, "site", c, upstream.Options{})
	return &proxied{s, proxy, m, newFixture(t, gateway.Options{Upstreams: []gateway.Upstream{m}})}
}

func (p *proxied) poison(t *testing.T, kind, direction, attributes string) {
	t.Helper()
	_, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(`{"name":%q,"type":%[1]q,"stream":%q,"toxicity":1,"attributes":%s}`, kind, direction, attributes)))
	require.NoError(t, err)
}

// outcome is how a call of a script ended.
type outcome struct {
	OK        bool   `json:"ok"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

func (p *proxied) try(t *testing.T, tool string) outcome {
	t.Helper()
	began := time.Now()
	var o outcome
	text := p.f.run(fmt.Sprintf(`local ok, e = pcall(sdk.site.%s)
		return { ok = ok, code = if ok then nil else e.detail, message = if ok then nil else e.message, retryable = if ok then nil else e.retryable }`, tool))
	require.NoError(t, json.Unmarshal([]byte(text), &o), text)
	require.Less(t, time.Since(began), patience, "it does not hang")
	return o
}

// Between us and a server stands a network that does harm. Each call ends, with an error that says why or with its
// result; one that may have run is not made again; and where the harm is over all is as before.
func TestNetworksThatDoHarm(t *testing.T) {
	for _, c := range []struct {
		name             string
		kind, way, about string
		works            bool
		codes            string // of the error, one of these
		config           upstream.Config
	}{
		{name: "delay", kind: "latency", way: "downstream", about: `{"latency":60,"jitter":20}`, works: true},
		{name: "delay of what we send", kind: "latency", way: "upstream", about: `{"latency":60}`, works: true},
		{name: "small pieces", kind: "slicer", way: "downstream", about: `{"average_size":3,"size_variation":2,"delay":10}`, works: true},
		{name: "slow", kind: "bandwidth", way: "downstream", about: `{"rate":8}`, works: true},
		{name: "slow close", kind: "slow_close", way: "downstream", about: `{"delay":200}`, works: true},
		{name: "cut in the answer's head", kind: "limit_data", way: "downstream", about: `{"bytes":30}`, codes: "lost unavailable"},
		{name: "cut in the answer's body", kind: "limit_data", way: "downstream", about: `{"bytes":170}`, codes: "lost unavailable"},
		{name: "cut before the request", kind: "limit_data", way: "upstream", about: `{"bytes":0}`, codes: "lost unavailable timeout", config: upstream.Config{CallTimeout: 500 * time.Millisecond}},
		{name: "cut in the request", kind: "limit_data", way: "upstream", about: `{"bytes":100}`, codes: "lost unavailable timeout", config: upstream.Config{CallTimeout: 500 * time.Millisecond}},
		{name: "reset", kind: "reset_peer", way: "downstream", about: `{"timeout":0}`, codes: "lost unavailable"},
		{name: "reset of what we send", kind: "reset_peer", way: "upstream", about: `{"timeout":0}`, codes: "lost unavailable"},
		{name: "half open", kind: "timeout", way: "downstream", about: `{"timeout":0}`, codes: "timeout unavailable", config: upstream.Config{CallTimeout: 500 * time.Millisecond, StartTimeout: time.Second}},
		{name: "half open where we send", kind: "timeout", way: "upstream", about: `{"timeout":0}`, codes: "timeout unavailable", config: upstream.Config{CallTimeout: 500 * time.Millisecond, StartTimeout: time.Second}},
		{name: "garbage", kind: "garbage", way: "downstream", about: `{"lines":true}`, codes: "lost unavailable invalid_answer"},
		{name: "garbage without an end", kind: "garbage", way: "downstream", about: `{}`, codes: "lost unavailable timeout", config: upstream.Config{CallTimeout: 500 * time.Millisecond, StartTimeout: time.Second}},
		{name: "garbage in bodies", kind: "garbage", way: "downstream", about: `{"heads":true}`, codes: "lost unavailable invalid_answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := behindProxy(t, c.config)
			require.True(t, p.try(t, "change").OK)
			before := len(p.seen())
			p.poison(t, c.kind, c.way, c.about)
			changed := p.try(t, "change")
			require.LessOrEqual(t, len(p.seen()), before+1, "it may have run: it is not made again")
			read := p.try(t, "read")
			for _, o := range []outcome{changed, read} {
				require.Equal(t, c.works, o.OK, o.Message)
				if !c.works {
					require.Contains(t, strings.Fields(c.codes), o.Code, o.Message)
					require.NotEmpty(t, o.Message)
					require.NotContains(t, o.Message, p.proxy.Listen, "addresses are the operator's")
				}
			}
			p.proxy.Toxics.ResetToxics(context.Background())
			changes := strings.Count(strings.Join(p.seen(), "\n"), "change")
			eventually(t, func() bool { return p.try(t, "read").OK })
			require.True(t, p.try(t, "change").OK)
			require.Equal(t, changes+1, strings.Count(strings.Join(p.seen(), "\n"), "change"))
		})
	}
}

// A server that goes away is told of at once, and is used again when it is back.
func TestServersThatGoAway(t *testing.T) {
	p := behindProxy(t, upstream.Config{})
	require.True(t, p.try(t, "change").OK)
	listen := p.proxy.Listen
	p.proxy.Stop()
	for range 3 {
		o := p.try(t, "change")
		require.False(t, o.OK)
		require.Contains(t, []string{"unavailable", "lost"}, o.Code, o.Message)
	}
	require.Contains(t, p.f.gives("list_apis", nil), `"functions":2`, "what it offers is still known")
	p.proxy.Listen = listen
	require.NoError(t, p.proxy.Start())
	eventually(t, func() bool { return p.try(t, "read").OK })
	require.True(t, p.try(t, "change").OK)
}
