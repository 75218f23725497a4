package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/redact"
)

// secrets lists the texts of sources that must never be shown: what headers, variables of the environment and auth
// hold, and what stands in arguments and addresses under names of secrets.
func (s *Sources) secrets() (list []string) {
	for _, server := range s.MCPServers {
		list = append(list, server.secrets()...)
	}
	for _, api := range s.APIs {
		list = append(list, api.secrets()...)
	}
	return list
}

func (s *MCPServer) secrets() []string {
	list := append(secretArguments(s.Args), s.Auth.Token, s.Auth.ClientSecret)
	list = append(list, secretValues(s.Env)...)
	list = append(list, secretValues(s.Headers)...)
	return append(list, secretsOfAddress(s.URL)...)
}

func (a *API) secrets() []string {
	list := append(secretValues(a.Headers), a.Auth.secrets()...)
	for _, auth := range a.Schemes {
		list = append(list, auth.secrets()...)
	}
	for name, text := range a.Variables {
		if redact.SecretVariable(name) {
			list = append(list, text)
		}
	}
	return append(append(list, secretsOfAddress(a.Spec)...), secretsOfAddress(a.BaseURL)...)
}

func (a *APIAuth) secrets() []string { return []string{a.Token, a.Password, a.Key, a.ClientSecret} }

// secretValues are those of headers or variables, but for what tells nothing and would be missed everywhere, as
// "production", "/tmp" or "application/json".
func secretValues(values map[string]string) (list []string) {
	for name, text := range values {
		if tellsName(name) || !plain.MatchString(text) {
			list = append(list, text)
			if scheme, rest, is := strings.Cut(text, " "); is && authScheme.MatchString(scheme) {
				list = append(list, rest) // may be quoted without it
			}
		}
	}
	return list
}

var (
	// plain are short words, numbers, versions, paths, media types, and addresses of hosts.
	plain = regexp.MustCompile(`^(?:[A-Za-z]{0,12}|[0-9.:]{0,15}|(?:~|\.{1,2})?(?:/[A-Za-z0-9._@ -]*)+|\*/\*|[a-z]+/[a-z0-9.+-]{1,40}|https?://[A-Za-z0-9.-]+(?::[0-9]+)?/?)$`)
	// tells are parts of names whose values are secret, however plain they look.
	tells      = regexp.MustCompile(`(?i)pass|auth|cred|secret|token|key|pat$|pin$|pwd|cookie|session`)
	authScheme = regexp.MustCompile(`^(?i:bearer|basic|token|apikey|digest)$`)
)

func tellsName(name string) bool { return redact.SecretVariable(name) || tells.MatchString(name) }

// secretArguments are the values of --api-key VALUE, --api-key=VALUE, NAME_KEY=VALUE and "Header: value".
func secretArguments(args []string) (list []string) {
	for i, arg := range args {
		bare := strings.TrimLeft(arg, "-")
		name, text, joined := strings.Cut(bare, "=")
		switch {
		case joined && redact.SecretVariable(name):
			list = append(list, text)
		case !joined && bare != arg && redact.SecretVariable(name) && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			list = append(list, args[i+1])
		}
		if header, text, is := strings.Cut(bare, ":"); is && redact.SecretName(header) {
			list = append(list, secretValues(map[string]string{header: strings.TrimSpace(text)})...)
		}
		if strings.Contains(arg, "://") {
			list = append(list, secretsOfAddress(arg)...)
		}
	}
	return list
}

// secretsOfAddress are a password, and what the query has under names of secrets.
func secretsOfAddress(text string) (list []string) {
	u, err := url.Parse(text)
	if err != nil || text == "" {
		return nil
	}
	if password, is := u.User.Password(); is {
		list = append(list, password)
	}
	for name, values := range u.Query() {
		if tellsName(name) {
			list = append(list, values...)
		}
	}
	return list
}

// ClearText names what is secret and stands there as it is, and not as a variable: "env.API_KEY".
func (s *MCPServer) ClearText() (keys []string) {
	add := func(key, name, text string) {
		if text != "" && !strings.Contains(text, "${") && tellsName(name) {
			keys = append(keys, key)
		}
	}
	for _, name := range sortedNames(s.Env) {
		add("env."+name, name, s.Env[name])
	}
	for _, name := range sortedNames(s.Headers) {
		add("headers."+name, name, s.Headers[name])
	}
	add("auth.token", "token", s.Auth.Token)
	add("auth.client_secret", "secret", s.Auth.ClientSecret)
	add("args", "secret", strings.Join(secretArguments(s.Args), ""))
	add("url", "secret", strings.Join(secretsOfAddress(s.URL), ""))
	return keys
}

// ClearText is the same for an API.
func (a *API) ClearText() []string {
	like := MCPServer{Headers: a.Headers, URL: a.Spec}
	keys := like.ClearText()
	secrets := a.Auth.secrets()
	for _, auth := range a.Schemes {
		secrets = append(secrets, auth.secrets()...)
	}
	if slices.ContainsFunc(secrets, func(text string) bool { return text != "" && !strings.Contains(text, "${") }) {
		keys = append(keys, "auth")
	}
	return keys
}

// sorted are all secrets, each once, without empty ones.
func sorted(secrets []string) []string {
	slices.Sort(secrets)
	return slices.DeleteFunc(slices.Compact(secrets), func(text string) bool { return text == "" })
}
