package finder

import (
	"strings"
	"testing"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func found(hits []Hit) []string {
	names := make([]string, len(hits))
	for i, h := range hits {
		names[i] = h.Source.Name + "." + h.Function.Name
	}
	return names
}

// The first one of each is what somebody who asks so wants.
func TestSearchFindsWhatIsMeant(t *testing.T) {
	i := New(catalogue(t))
	for query, want := range map[string]string{
		"create issue":                        "github.create_issue",
		"creating issues":                     "github.create_issue",
		"how do I open a pull request?":       "github.create_pull_request",
		"create_pull_request":                 "github.create_pull_request",
		"sdk.github.list_issues":              "github.list_issues",
		"comment on an issue":                 "github.add_issue_comment",
		"merge pr":                            "github.merge_pull_request",
		"fork repo":                           "github.fork_repository",
		"commits of a branch":                 "github.list_commits",
		"read a text file":                    "filesystem.read_text_file",
		"rename file":                         "filesystem.move_file",
		"file size and permissions":           "filesystem.get_file_info",
		"make folder":                         "filesystem.create_directory",
		"overwrite existing file":             "filesystem.write_file",
		"knowledge graph":                     "memory.read_graph",
		"remove entities":                     "memory.delete_entities",
		"send a message to a channel":         "slack.slack_post_message",
		"emoji":                               "slack.slack_add_reaction",
		"list slack users":                    "slack.slack_get_users",
		"thread_ts":                           "slack.slack_reply_to_thread",
		"createPet":                           "petstore.createPet",
		"create pet":                          "petstore.createPet",
		"createpet":                           "petstore.createPet",
		"pet photo":                           "petstore.uploadPetImage",
		"cancel order":                        "petstore.deleteOrder",
		"inventory":                           "petstore.getInventory",
		"refund":                              "payments.PostRefunds",
		"charge a card":                       "payments.PostPaymentIntents",
		"invoices of a customer":              "payments.GetInvoices",
		"account balance":                     "payments.GetBalance",
		"weather in a city":                   "weather.current-weather",
		"rain":                                "weather.forecast.daily",
		"forecast_daily":                      "weather.forecast.daily",
		"会議の予定":                               "社内.create_event",
		"文書検索":                                "社内.search_documents",
		"订单状态":                                "社内.查询订单",
		"查询":                                  "社内.查询订单",
		"isues create":                        "github.create_issue",
		"repositry fork":                      "github.fork_repository",
		"forcast":                             "weather.forecast.daily",
		"invetory":                            "petstore.getInventory",
		"temperatur":                          "weather.current-weather",
		"reac":                                "slack.slack_add_reaction",
		"LIST CHANNELS":                       "slack.slack_list_channels",
		"upload":                              "petstore.uploadPetImage",
		"please give me the list of all pets": "petstore.listPets",
	} {
		hits := i.Search(query, SearchOptions{})
		if assert.NotEmpty(t, hits, query) {
			assert.Equal(t, want, found(hits)[0], "%s: %v", query, found(hits))
		}
	}
	for _, query := range []string{"", "qqqqxxxx", "!!!", "\xff\x00"} {
		assert.Empty(t, i.Search(query, SearchOptions{}), query)
	}
}

func TestSearchFilters(t *testing.T) {
	i := New(catalogue(t))
	hits := i.Search("create", SearchOptions{Source: "memory"})
	require.NotEmpty(t, hits)
	for _, h := range hits {
		assert.Equal(t, "memory", h.Source.Name)
	}
	assert.Equal(t, []string{"petstore.deleteOrder", "petstore.placeOrder"}, sortedStrings(found(i.Search("order", SearchOptions{Tag: "Store"}))))
	assert.Empty(t, i.Search("create", SearchOptions{Source: "nowhere"}))
	assert.Len(t, i.Search("create", SearchOptions{Limit: 3}), 3)
	first := i.Search("list", SearchOptions{})
	assert.Equal(t, found(first), found(New(catalogue(t)).Search("list", SearchOptions{})), "the same every time")
}

func TestSearchReadsTypes(t *testing.T) {
	s := &catalog.Source{Name: "s", Kind: catalog.OpenAPI, Functions: []catalog.Function{
		{Name: "a", Method: "GET", Path: "/a"},
		{Name: "b", Method: "GET", Path: "/b", Result: map[string]any{"$ref": "#/$defs/SimpleUser"},
			Defs: map[string]any{"SimpleUser": map[string]any{"properties": map[string]any{"avatar_url": map[string]any{"type": "string"}}}}},
	}}
	i := New(catalog.New(nil, []*catalog.Source{s}))
	for _, query := range []string{"simple user", "SimpleUser", "avatar", "avatar_url"} {
		assert.Equal(t, []string{"s.b"}, found(i.Search(query, SearchOptions{})), query)
	}
}

func TestSearchKeepsToItsBudget(t *testing.T) {
	i := New(catalogue(t))
	queries := rapid.SampledFrom([]string{"create", "list issues", "file", "会議", "pull request", "pet"})
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 1_200).Draw(t, "most")
		hits := i.Search(queries.Draw(t, "query"), SearchOptions{MaxTokens: most, Limit: 50})
		used := 0
		for _, h := range hits {
			used += tokensOf(h.Function.FullName()) + tokensOf(h.Snippet) + tokensOf(h.Signature)
			if h.Signature != "" {
				require.True(t, strings.HasPrefix(h.Signature, "function sdk.") && strings.HasSuffix(h.Signature, " end"), h.Signature)
			}
		}
		require.LessOrEqual(t, used, most)
	})
	generous := i.Search("create", SearchOptions{MaxTokens: 100_000})
	require.Len(t, generous, DefaultHits)
	for _, h := range generous {
		assert.NotEmpty(t, h.Signature)
		assert.NotEmpty(t, h.Snippet)
	}
}

func TestSnippets(t *testing.T) {
	long := strings.Repeat("Words that stand in front of it. ", 20) + "Then the needle is found here. " + strings.Repeat("And more follows. ", 20)
	japanese := strings.Repeat("これは長い説明です。", 20)
	s := &catalog.Source{Name: "s", Kind: catalog.MCP, Functions: []catalog.Function{
		{Name: "a", Description: long}, {Name: "b", Description: japanese}, {Name: "c", Title: "A needle\nof two lines"},
	}}
	i := New(catalog.New(nil, []*catalog.Source{s}))
	hits := i.Search("needle", SearchOptions{})
	require.Len(t, hits, 2)
	for _, h := range hits {
		assert.Contains(t, h.Snippet, "needle")
		assert.LessOrEqual(t, tokensOf(h.Snippet), maxSnippet+4)
		assert.NotContains(t, h.Snippet, "\n")
	}
	hits = i.Search("説明", SearchOptions{})
	require.Len(t, hits, 1)
	assert.True(t, strings.HasPrefix(hits[0].Snippet, "これは長い説明です。"), hits[0].Snippet)
	assert.LessOrEqual(t, tokensOf(hits[0].Snippet), maxSnippet+4)
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"createPet": "creat pet", "HTTPServer": "http server", "get_user-byId": "get user by id", "URLs": "url", "parseURL": "pars url",
		"issues": "issu", "issue": "issu", "creating": "creat", "created": "creat", "creation": "creat", "queries": "query", "query": "query",
		"running": "run", "string": "string", "status": "status", "address": "address", "boxes": "box", "oauth2": "oauth 2",
		"日本語": "日本 本語", "本": "本", "é": "é", "Straße": "straß", "пользователи": "пользователи",
	} {
		var list []string
		words(text, func(word string) { list = append(list, word) })
		assert.Equal(t, want, strings.Join(list, " "), text)
	}
	assert.Equal(t, 4, tokensOf("日本語abc"))
	assert.Equal(t, 0, tokensOf(""))
}

func FuzzSearch(f *testing.F) {
	i := New(catalogue(f))
	for _, seed := range []string{"create issue", "日本", "\xff", "a.b.c", strings.Repeat("x ", 500)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		i.Search(query, SearchOptions{})
		_, err := i.List(ListOptions{Text: query})
		require.NoError(t, err)
		if _, err := i.List(ListOptions{Cursor: query}); err != nil {
			require.ErrorIs(t, err, ErrCursor)
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	i := New(many())
	i.Search("warm", SearchOptions{})
	for name, query := range map[string]string{
		"common": "create an issue with labels in a workspace", "rare": "payment17", "typo": "invoce histry", "exact": "server3.merge_branch",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				i.Search(query, SearchOptions{})
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		c := many()
		b.StartTimer()
		New(c).Search("x", SearchOptions{})
	}
}
