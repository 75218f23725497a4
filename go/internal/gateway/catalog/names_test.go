package catalog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func server(name string, tools ...string) *Source {
	s := &Source{Name: name, Kind: MCP}
	for _, tool := range tools {
		s.Functions = append(s.Functions, Function{Name: tool})
	}
	return s
}

func document(name string, operations ...string) *Source {
	s := server(name, operations...)
	s.Kind = OpenAPI
	for i := range s.Functions {
		s.Functions[i].Method, s.Functions[i].Path = "GET", fmt.Sprint("/", i)
	}
	return s
}

func TestSanitise(t *testing.T) {
	for name, want := range map[string]string{
		"data-server": "data_server", "my.api": "my_api", "123service": "_123service", "while": "_while", "": "_",
		"plain": "plain", "é": "_", "日本": "__", "a b\x00c": "a_b_c", "\xff": "_",
	} {
		assert.Equal(t, want, Sanitise(name), name)
	}
}

// Case D11.
func TestCollidingNames(t *testing.T) {
	long := strings.Repeat("x", 128)
	tools := []string{"get-user", "get_user", "Get.User", long, long + "y"}
	first := New(nil, []*Source{server("my.srv", tools...), server("my srv", tools...)})
	requireSound(t, first)
	one, two := first.Source("my.srv"), first.Source("my srv")
	require.NotNil(t, one)
	require.NotNil(t, two)
	assert.Regexp(t, `^my_srv_[0-9a-f]{6}$`, one.Ident)
	assert.Regexp(t, `^my_srv_[0-9a-f]{6}$`, two.Ident)
	assert.Equal(t, "get_user", one.Function("get_user").Name, "an identifier is its own")
	assert.Regexp(t, `^get_user_[0-9a-f]{6}$`, one.Function("get-user").Ident)
	assert.Equal(t, "Get_User", one.Function("Get.User").Ident)
	assert.Len(t, one.Function(long).Ident, maxIdent)
	assert.Equal(t, long, one.Function(one.Function(long).Ident).Name, "the server gets the original name")

	slices.Reverse(tools)
	again := New(nil, []*Source{server("my srv", tools...), server("my.srv", tools...)})
	assert.Equal(t, namesOf(first), namesOf(again), "the order is nothing")
}

func namesOf(c *Catalog) map[string]string {
	names := map[string]string{}
	for _, s := range c.Sources() {
		for _, f := range s.Callables {
			names[s.Name+"/"+string(s.Kind)+"/"+f.Name+f.Path] = f.FullName()
		}
	}
	return names
}

// requireSound checks what holds for every catalogue.
func requireSound(t require.TestingT, c *Catalog) {
	sources := map[string]bool{}
	for _, s := range c.Sources() {
		require.True(t, IsIdent(s.Ident), "%q", s.Ident)
		require.False(t, sources[s.Ident], s.Ident)
		sources[s.Ident] = true
		require.Same(t, s, c.Source(s.Ident))
		require.Equal(t, s.Name, c.Source(s.Name).Name)
		seen := map[string]bool{}
		for _, f := range s.Callables {
			require.True(t, IsIdent(f.Ident), "%q", f.Ident)
			require.False(t, seen[f.Ident], f.Ident)
			seen[f.Ident] = true
			require.Same(t, f, s.Function(f.Ident))
			require.Equal(t, f.Name, s.Function(f.Name).Name, "originals are keys")
			if IsIdent(f.Name) && f.Suggested == "" && s.Kind == MCP {
				require.Equal(t, f.Name, f.Ident)
			}
			found, err := c.Find(s.Ident + "." + f.Ident)
			require.NoError(t, err)
			require.Equal(t, f.Ident, found.Ident)
		}
	}
}

func TestNamesOfAnything(t *testing.T) {
	names := rapid.OneOf(
		rapid.SampledFrom([]string{"a-b", "a_b", "a.b", "a b", "a_b_1", "end", "_end", "string", "", "_", "1", "_1", strings.Repeat("n", 64), strings.Repeat("n", 70)}),
		rapid.StringN(0, 80, 200))
	rapid.Check(t, func(t *rapid.T) {
		var c *Catalog
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			var sources []*Source
			for _, name := range rapid.SliceOfN(names, 0, 4).Draw(t, "sources") {
				tools := rapid.SliceOfN(names, 0, 8).Draw(t, "tools")
				if rapid.Bool().Draw(t, "document") {
					sources = append(sources, document(name, tools...))
				} else {
					sources = append(sources, server(name, tools...))
				}
			}
			before := c
			c = New(c, sources)
			requireSound(t, c)
			shuffled := slices.Clone(sources)
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if len(distinct(sources)) == len(sources) { // else the first one counts
				require.Equal(t, namesOf(c), namesOf(New(before, shuffled)))
			}
		}
	})
}

func TestFunctionsWithoutAName(t *testing.T) {
	scope := New(nil, []*Source{{Name: "s", Kind: MCP, Functions: []Function{{}, {Name: "_"}, {Suggested: "x"}, {Name: "_"}}}}).Sources()[0]
	require.Len(t, scope.Callables, 1)
	require.Equal(t, "_", scope.Callables[0].Ident)
	require.Empty(t, New(nil, []*Source{{Name: "s", Kind: MCP, Functions: []Function{{}}}}).Sources()[0].Callables)
	scope = New(nil, []*Source{{Name: "s", Kind: MCP, Functions: []Function{{}, {Name: "!"}}}}).Sources()[0]
	require.Equal(t, "_", scope.Function("!").Ident, "the one without a name wants none")
}

func TestNamesStay(t *testing.T) {
	first := New(nil, []*Source{server("s", "a-b")})
	require.Equal(t, "a_b", first.Source("s").Function("a-b").Ident)
	second := New(first, []*Source{server("s", "a-b", "a.b")})
	assert.Equal(t, "a_b", second.Source("s").Function("a-b").Ident, "what scripts know stays")
	suffixed := second.Source("s").Function("a.b").Ident
	assert.Regexp(t, `^a_b_[0-9a-f]{6}$`, suffixed)
	third := New(second, []*Source{server("s", "a.b")})
	assert.Equal(t, suffixed, third.Source("s").Function("a.b").Ident, "a suffix stays")
	gone := New(New(third, nil), []*Source{server("s", "a.b", "a-b")})
	assert.Equal(t, suffixed, gone.Source("s").Function("a.b").Ident, "also when the source was away")
	assert.Equal(t, "a_b", gone.Source("s").Function("a-b").Ident)
	owner := New(gone, []*Source{server("s", "a-b", "a_b")})
	assert.Equal(t, "a_b", owner.Source("s").Function("a_b").Ident, "a name that is an identifier is its owner's")
	assert.NotEqual(t, "a_b", owner.Source("s").Function("a-b").Ident)
}

func TestSuggestedNames(t *testing.T) {
	s := &Source{Name: "pets", Kind: OpenAPI, Functions: []Function{
		{Name: "createPet", Suggested: "create_pet", Method: "POST", Path: "/pets"},
		{Name: "create-pet", Suggested: "create_pet", Method: "PUT", Path: "/pets"},
		{Name: "list_pets", Suggested: "list_pets", Method: "GET", Path: "/pets"},
		{Name: "listPets", Suggested: "list_pets", Method: "GET", Path: "/all"},
	}}
	c := New(nil, []*Source{s})
	requireSound(t, c)
	assert.Regexp(t, `^create_pet_[0-9a-f]{6}$`, c.Source("pets").Function("createPet").Ident)
	assert.Equal(t, "list_pets", c.Source("pets").Function("list_pets").Name)
	assert.NotEqual(t, "list_pets", c.Source("pets").Function("listPets").Ident)
}

func TestGlobals(t *testing.T) {
	c := New(nil, []*Source{server("string", "x"), server("sdk", "x"), server("github", "x"), server("result"), server("class")})
	assert.False(t, c.Source("string").Global)
	assert.Equal(t, "string", c.Source("string").Ident)
	assert.False(t, c.Source("sdk").Global)
	assert.False(t, c.Source("result").Global)
	assert.False(t, c.Source("class").Global)
	assert.True(t, c.Source("github").Global)
}

func TestAliases(t *testing.T) {
	c := New(nil, []*Source{document("one", "list", "get_x", "two"), document("two", "list", "Only"), server("srv", "tool", "get_y")})
	assert.Nil(t, c.Alias("list"), "two documents have it")
	assert.Nil(t, c.Alias("two"), "a source has it")
	assert.Nil(t, c.Alias("tool"), "tools of servers have none")
	assert.Equal(t, "one.get_x", c.Alias("get_x").FullName())
	found, err := c.Find("sdk.Only")
	require.NoError(t, err)
	assert.Equal(t, "two.Only", found.FullName())
}

func TestUnknown(t *testing.T) {
	c := New(nil, []*Source{server("github", "create_issue", "get-user"), server("my.srv", "a.b"), document("pets", "create_pet")})
	for name, want := range map[string]string{
		"github.create_isue":     "there is no function sdk.github.create_isue, did you mean create_issue?",
		"sdk.github.get-usr":     "there is no function sdk.github.get-usr, did you mean get_user?",
		"github.nothing_like_it": "there is no function sdk.github.nothing_like_it; github has create_issue, get_user",
		"githb.create_issue":     "there is no source sdk.githb, did you mean sdk.github.create_issue?",
		"githb.x":                "there is no source sdk.githb, did you mean sdk.github?",
		"create_issue":           "there is no sdk.create_issue, did you mean sdk.github.create_issue?",
		"create_pets":            "there is no source sdk.create_pets, did you mean sdk.pets.create_pet?",
		"github":                 "github is a source, not a function: name one of its functions, as in sdk.github.create_issue",
		"zzzzzz.q":               "there is no source sdk.zzzzzz; the sources are github, my_srv, pets",
	} {
		_, err := c.Find(name)
		assert.EqualError(t, err, want, name)
	}
	for _, name := range []string{"github.get-user", "sdk.github.get_user", "my.srv.a.b", "my_srv.a.b", "my.srv.a_b", "create_pet"} {
		_, err := c.Find(name)
		assert.NoError(t, err, name)
	}
	_, err := New(nil, nil).Find("a.b")
	assert.EqualError(t, err, "there is no source sdk.a: there are no sources")
	_, err = c.Find(strings.Repeat("\xff.", 100_000))
	assert.Less(t, len(err.Error()), 400)
}

// Names do not depend on which source is there first, and one that is not there yet is told with the reason.
func TestExpectedSources(t *testing.T) {
	expected := []Expected{{"my.srv", MCP}, {"my srv", MCP}, {"pets", OpenAPI}}
	c := Expecting(nil, expected, func(e Expected) string { return e.Name + " is starting" })
	ident := c.Ident(expected[1])
	require.Regexp(t, `^my_srv_[0-9a-f]{6}$`, ident)
	one := New(c, []*Source{server("my srv", "a")})
	assert.Equal(t, ident, one.Source("my srv").Ident, "also where it is alone")
	assert.Equal(t, ident, Expecting(one, expected[1:], nil).Ident(expected[1]), "also where it is expected alone")
	for _, name := range []string{"sdk.pets.list", "pets", "pets.list"} {
		_, err := one.Find(name)
		assert.EqualError(t, err, "nothing is known of the source sdk.pets now: pets is starting", name)
	}
	_, err := one.Find("my.srv.a")
	assert.EqualError(t, err, "nothing is known of the source sdk."+c.Ident(expected[0])+" now: my.srv is starting")
}

func TestFingerprints(t *testing.T) {
	make := func(change func(*Source)) *Catalog {
		s := server("s", "a", "b")
		s.Functions[0].Defs = map[string]any{
			"X": map[string]any{"items": map[string]any{"$ref": "#/$defs/Y"}}, "Y": map[string]any{"type": "string"}, "Z": true}
		s.Functions[0].Params = map[string]any{"properties": map[string]any{"x": map[string]any{"$ref": "#/$defs/X"}}}
		change(s)
		return New(nil, []*Source{s})
	}
	nothing := func(*Source) {}
	base := make(nothing)
	function := func(c *Catalog, name string) string { return c.Source("s").Function(name).Hash() }
	assert.Equal(t, base.Hash(), make(nothing).Hash())
	for what, change := range map[string]func(*Source){
		"description": func(s *Source) { s.Functions[0].Description = "other" },
		"hint":        func(s *Source) { no := false; s.Functions[0].Hints.Destructive = &no },
		"definition":  func(s *Source) { s.Functions[0].Defs["Y"].(map[string]any)["type"] = "number" },
		"body":        func(s *Source) { s.Functions[0].Body = true },
	} {
		changed := make(change)
		assert.NotEqual(t, base.Hash(), changed.Hash(), what)
		assert.NotEqual(t, function(base, "a"), function(changed, "a"), what)
		assert.Equal(t, function(base, "b"), function(changed, "b"), what)
	}
	unused := make(func(s *Source) { s.Functions[0].Defs["Z"] = false })
	assert.Equal(t, function(base, "a"), function(unused, "a"), "a definition that it does not refer to")
}

func TestUnchangedSourcesAreKept(t *testing.T) {
	kept, changed := server("kept", "a"), server("changed", "b")
	first := New(nil, []*Source{kept, changed})
	calls := 0
	count := func() any { calls++; return calls }
	require.Equal(t, 1, first.Source("kept").Memo("k", count))
	second := New(first, []*Source{server("changed", "b"), kept})
	require.Equal(t, 1, second.Source("kept").Memo("k", count))
	require.NotSame(t, first.Source("changed"), second.Source("changed"))
}

func BenchmarkNew(b *testing.B) {
	var sources []*Source
	for i := range 50 {
		var tools []string
		for k := range 100 {
			tools = append(tools, fmt.Sprintf("get-thing%d-%d", i, k))
		}
		sources = append(sources, server(fmt.Sprint("server", i), tools...))
	}
	for b.Loop() {
		New(nil, sources)
	}
}
