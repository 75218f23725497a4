package tooldef

import (
	"path"
	"strings"

	"github.com/hukilau/hukilau/go/internal/luaudoc"
)

// use is one place where a script reaches outside, as its tokens show it.
type use struct {
	key   string // of the permission: "net"
	value string // what it reaches; "" when that is not written out
	call  string // as "http.get"
	line  int
	begin string // of the host, where its end is not written out

	perhaps bool // nothing that the script shows says that there is a use at all
}

// uses finds what a script reaches, and whether it requires modules that nobody looked at. The paths of a
// global fs begin at a folder; config is what the script finds as its configuration.
func (n *names) uses(folder string, config map[string]any) (list []use, more bool) {
	u := usage{
		names: n, alias: map[string]string{}, tables: map[string]int{}, constants: map[string]string{}, bound: n.bindings(),
		config: config, folder: folder,
	}
	u.parameters()
	for i := 0; i < len(n.tokens); i++ {
		u.assigned(i)
		u.token(i)
	}
	for _, name := range n.required() {
		more = more || !sdkModules[strings.TrimPrefix(name, "@")]
	}
	return u.found, more
}

// sdkModules are those of which a call is recognised, or which reach nothing.
var sdkModules = map[string]bool{
	"async": true, "checks": true, "crypto": true, "encoding": true, "env": true, "fs": true, "haivivi": true,
	"haivivi/http": true, "haivivi/context": true, "haivivi/agent": true, "haivivi/types": true, "http": true, "json": true,
	"kv": true, "log": true, "regex": true, "time": true, "toml": true, "utils": true, "utils/string": true,
	"utils/table": true, "uuid": true, "yaml": true,
}

// maxAhead is how many tokens a look ahead goes: what scripts of people have is near.
const maxAhead = 1000

// maxAlias is about the longest name that is followed.
const maxAlias = 200

// usage follows the names that stand for host functions.
type usage struct {
	*names
	alias     map[string]string // of locals, as "client" for "http"
	tables    map[string]int    // the constructors of tables that have a name; below 0 is one that is not known
	constants map[string]string // the texts that have a name
	bound     map[string]int    // how often a name is given something
	config    map[string]any
	folder    string
	found     []use
}

// parameters gives the context of the entry functions its own name.
func (u *usage) parameters() {
	for i := range u.tokens {
		switch {
		case !u.is(i, "function"):
		case u.is(i+1, "invoke") && u.is(i+2, "("):
			u.contextAt(i + 3)
		case u.is(i+1, "tool") && u.is(i+3, "execute") && u.is(i+4, "("):
			for at := i + 5; at < min(i+maxAhead, len(u.tokens)) && !u.is(at, ")"); at++ {
				if u.is(at, ",") {
					u.contextAt(at + 1)
					break
				}
			}
		}
	}
}

func (u *usage) contextAt(i int) {
	if i < len(u.tokens) && u.tokens[i].Kind == luaudoc.TokenWord {
		u.alias[u.tokens[i].Text] = "ctx"
	}
}

// token looks at a name, and into texts with expressions.
func (u *usage) token(i int) {
	t := u.tokens[i]
	if t.Kind == luaudoc.TokenText && t.Text[0] == '`' {
		u.inside(t)
		return
	}
	if t.Kind != luaudoc.TokenWord || u.is(i-1, ".") || u.is(i-1, ":") {
		return
	}
	name, next := u.chain(i)
	if u.is(i-1, "=") && u.is(i-3, "local") && !u.is(next, "(") {
		u.alias[u.tokens[i-2].Text] = name
		return
	}
	for _, c := range capabilities {
		if rest, ok := strings.CutPrefix(name, c.prefix); ok && (c.any || rest == "") {
			u.note(c, rest, name, t.Line, next)
			u.placed(i)
			return
		}
	}
}

// placed makes the path of the last use that of the folder, where token i is the global fs.
func (u *usage) placed(i int) {
	if u.tokens[i].Text != "fs" || u.alias["fs"] != "" || u.folder == "" || len(u.found) == 0 {
		return
	}
	if last := &u.found[len(u.found)-1]; last.value != "" && !path.IsAbs(last.value) {
		last.value = path.Join(u.folder, last.value)
	}
}

// inside looks at the expressions of an interpolated text.
func (u *usage) inside(t luaudoc.Token) {
	rest := t.Text
	for {
		open := strings.IndexByte(rest, '{')
		if open < 0 {
			return
		}
		end := strings.IndexByte(rest[open:], '}')
		if end < 0 {
			return
		}
		tokens, err := luaudoc.Tokens(luaudoc.Source{Text: rest[open+1 : open+end]})
		if err == nil {
			inner := u.within(tokens)
			for i := range tokens {
				inner.token(i)
			}
			for _, use := range inner.found {
				use.line = t.Line
				u.found = append(u.found, use)
			}
		}
		rest = rest[open+end:]
	}
}

// chain reads a name with its fields, in its longest form, and gives the token behind it.
func (u *usage) chain(i int) (name string, next int) {
	name, next = u.tokens[i].Text, i+1
	if name == "require" {
		at := next
		if u.is(at, "(") {
			at++
		}
		if at < len(u.tokens) {
			if module, whole := u.tokens[at].Quoted(); whole {
				name, next = module, at+1
				if u.is(next, ")") {
					next++
				}
			}
		}
	} else if other, ok := u.alias[name]; ok {
		name = other
	}
	for len(name) < maxAlias && (u.is(next, ".") || u.is(next, ":")) && next+1 < len(u.tokens) && u.tokens[next+1].Kind == luaudoc.TokenWord {
		name += "." + u.tokens[next+1].Text
		next += 2
	}
	return plainName(name), next
}

// plainName is the short form of a host function's name.
func plainName(name string) string {
	for _, p := range []struct{ long, short string }{
		{"_G.", ""}, {"context.", "ctx."}, {"__native.http_request", "http.request"}, {"__native.", ""},
		{"ctx.http.", "http."}, {"haivivi.http.", "http."}, {"haivivi/http.", "http."},
	} {
		if rest, ok := strings.CutPrefix(name, p.long); ok {
			name = p.short + rest
		}
	}
	return name
}

// capability is a host function that needs a permission.
type capability struct {
	prefix string
	any    bool // what follows the prefix is of no interest, or the value
	key    string
	value  func(u *usage, rest string, at int) string
	// options is the argument that may have names of tools, from 1; 0: none.
	options int
}

var capabilities = []capability{
	{prefix: "http.query"}, {prefix: "http.escape"},
	{prefix: "http.", any: true, key: "net", value: func(u *usage, _ string, at int) string {
		text, _ := u.text(at, 0)
		return hostOf(text)
	}},
	{prefix: "env.get", key: "env", value: constantOf},
	{prefix: "fs.read", key: "read", value: constantOf},
	{prefix: "fs.list", key: "read", value: constantOf},
	{prefix: "fs.stat", key: "read", value: constantOf},
	{prefix: "fs.exists", key: "read", value: constantOf},
	{prefix: "fs.", any: true, key: "write", value: constantOf},
	{prefix: "ctx.generate", key: "models", options: 3, value: constantOf},
	{prefix: "ctx.generate_json", key: "models", options: 4, value: constantOf},
	{prefix: "ctx.generate_stream", key: "models", options: 3, value: constantOf},
	{prefix: "ctx.create_agent", key: "models", options: 2, value: func(u *usage, _ string, at int) string { return u.agentModel(at) }},
	{prefix: "ctx.tools.call", key: "tools", value: constantOf},
	{prefix: "ctx.tools.list"},
	{prefix: "ctx.tools.", any: true, key: "tools", value: func(_ *usage, rest string, _ int) string { return rest }},
}

func constantOf(u *usage, _ string, at int) string { return u.constant(at) }

// note takes one use. A function that is handed on, as in pcall(http.get, url), has its argument behind a comma.
func (u *usage) note(c capability, rest, name string, line, next int) {
	if c.key == "" || strings.Contains(rest, ".") {
		return
	}
	found := use{key: c.key, call: name, line: line}
	if next < len(u.tokens) && (u.is(next, "(") || u.is(next, ",") || u.tokens[next].Kind == luaudoc.TokenText) {
		if u.tokens[next].Kind != luaudoc.TokenText {
			next++
		}
		found.value = c.value(u, rest, next)
		if c.key == "net" && found.value == "" {
			text, _ := u.text(next, 0)
			found.begin = beginOfHost(text)
		}
		if c.options > 0 {
			u.offered(name, line, next, c.options)
		}
	} else if c.any && c.key == "tools" {
		found.value = rest
	}
	u.found = append(u.found, found)
}

// constant is a text that can be seen; "" for another.
func (u *usage) constant(i int) string {
	if text, _ := u.text(i, 0); !strings.HasSuffix(text, unseen) {
		return text
	}
	return ""
}
