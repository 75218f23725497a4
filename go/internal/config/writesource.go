package config

import (
	"strconv"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

func tomlText(text string) string {
	encoded, err := jsonvalue.Encode(text)
	if err != nil {
		return `"` + text + `"` // no UTF-8: the check of the whole refuses it
	}
	return strings.ReplaceAll(string(encoded), "\x7f", `\u007f`)
}

func tomlList[T ~string](list []T) string {
	items := make([]string, len(list))
	for i, text := range list {
		items[i] = tomlText(string(text))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// fields collects the assignments of what is said.
type fields struct{ list []assignment }

func (f *fields) text(key, text string) {
	if text != "" {
		f.list = append(f.list, assignment{key, tomlText(text)})
	}
}

func (f *fields) texts(key string, texts map[string]string) {
	inside := fields{}
	for _, name := range sortedNames(texts) {
		inside.list = append(inside.list, assignment{dotted([]string{name}), tomlText(texts[name])})
	}
	f.table(key, inside)
}

func (f *fields) table(key string, inside fields) {
	if len(inside.list) > 0 {
		f.list = append(f.list, assignment{key, "{ " + join(inside.list, ", ") + " }"})
	}
}

func (f *fields) number(key string, n int) {
	if n != 0 {
		f.list = append(f.list, assignment{key, strconv.Itoa(n)})
	}
}

func (f *fields) yes(key string, is bool) {
	if is {
		f.list = append(f.list, assignment{key, "true"})
	}
}

func (f *fields) duration(key string, d time.Duration) {
	if d > 0 {
		f.text(key, d.String())
	}
}

// addList adds a list that is there, and be it empty.
func addList[T ~string](f *fields, key string, list []T, evenEmpty bool) {
	if len(list) > 0 || evenEmpty && list != nil {
		f.list = append(f.list, assignment{key, tomlList(list)})
	}
}

func (s *MCPServer) assignments() []assignment {
	var f fields
	f.text("command", s.Command)
	addList(&f, "args", s.Args, false)
	f.texts("env", s.Env)
	f.text("cwd", s.Cwd)
	f.text("url", s.URL)
	if s.Transport == SSE {
		f.text("transport", string(s.Transport))
	}
	f.texts("headers", s.Headers)
	var auth fields
	auth.text("type", string(s.Auth.Type))
	auth.text("token", s.Auth.Token)
	auth.text("client_id", s.Auth.ClientID)
	auth.text("client_secret", s.Auth.ClientSecret)
	addList(&auth, "scopes", s.Auth.Scopes, false)
	auth.number("redirect_port", s.Auth.RedirectPort)
	f.table("auth", auth)
	addList(&f, "allow", s.Allow, true)
	addList(&f, "deny", s.Deny, false)
	f.yes("stateless", s.Stateless)
	f.number("max_concurrent", s.MaxConcurrent)
	f.duration("timeout", s.Timeout)
	f.yes("disabled", s.Disabled)
	f.text("description", s.Description)
	return f.list
}

func (a *API) assignments() []assignment {
	var f fields
	f.text("spec", a.Spec)
	f.text("base_url", a.BaseURL)
	auth := a.Auth.fields()
	for _, name := range sortedNames(a.Schemes) {
		scheme := a.Schemes[name]
		auth.table(dotted([]string{name}), scheme.fields())
	}
	f.table("auth", auth)
	f.texts("headers", a.Headers)
	f.texts("variables", a.Variables)
	f.table("include", a.Include.fields())
	f.table("exclude", a.Exclude.fields())
	f.number("max_concurrent", a.MaxConcurrent)
	f.duration("timeout", a.Timeout)
	f.yes("disabled", a.Disabled)
	f.text("description", a.Description)
	return f.list
}

func (a *APIAuth) fields() (f fields) {
	f.text("type", string(a.Type))
	f.text("token", a.Token)
	f.text("user", a.User)
	f.text("password", a.Password)
	f.text("key", a.Key)
	f.text("in", a.In)
	f.text("name", a.Name)
	f.text("client_id", a.ClientID)
	f.text("client_secret", a.ClientSecret)
	f.text("token_url", a.TokenURL)
	addList(&f, "scopes", a.Scopes, false)
	return f
}

func (f *Filter) fields() (list fields) {
	addList(&list, "tags", f.Tags, false)
	addList(&list, "paths", f.Paths, false)
	addList(&list, "operations", f.Operations, false)
	return list
}
