package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// parseServer reads the absolute address of a server; it ends without a slash.
func parseServer(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%.200q is no URL", address)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("%.200q is no address of a server: it begins with http:// or https:// and a host", address)
	case u.User != nil:
		return nil, errors.New("the address of a server holds no user name and password: they belong into auth")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%.200q has a query or a fragment, which the address of a server cannot have", address)
	}
	u.RawPath = strings.TrimRight(u.EscapedPath(), "/")
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

// serverOf is the address that an operation is called at. The configured one goes before all others.
func (a *API) serverOf(op *operation) (*url.URL, error) {
	if a.config.BaseURL != "" {
		return parseServer(a.config.BaseURL)
	}
	list := op.Servers
	if len(list) == 0 {
		list = a.model.Servers
	}
	if len(list) == 0 {
		list = []server{{URL: "/"}}
	}
	chosen := list[0]
	address, err := a.withVariables(chosen)
	if err != nil {
		return nil, err
	}
	return a.absolute(address, chosen.Base)
}

// absolute resolves an address against that of the document which it is in.
func (a *API) absolute(address, base string) (*url.URL, error) {
	base = cmp.Or(base, a.model.Base)
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the server %.200q is no URL", address)
	}
	if u.IsAbs() {
		return parseServer(address)
	}
	if base == "" {
		return nil, fmt.Errorf("the document names no full address of a server (only %.200q): set base_url", address)
	}
	from, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	from.User, from.RawQuery = nil, ""
	return parseServer(from.ResolveReference(u).String())
}

// withVariables puts values into an address.
func (a *API) withVariables(s server) (string, error) {
	var out strings.Builder
	rest := s.URL
	for {
		before, after, ok := strings.Cut(rest, "{")
		out.WriteString(before)
		if !ok {
			return out.String(), nil
		}
		name, next, ok := strings.Cut(after, "}")
		if !ok {
			return "", fmt.Errorf("the server %.200q has a { without }", s.URL)
		}
		value, err := a.variable(s, name)
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		rest = next
	}
}

func (a *API) variable(s server, name string) (string, error) {
	v, declared := s.Variables[name]
	value, set := a.config.ServerVariables[name]
	switch {
	case !set && !declared:
		return "", fmt.Errorf("the server %.200q has a variable {%.100s} without a default: set server_variables.%.100s, or base_url", s.URL, name, name)
	case !set:
		value = v.Default
	case len(v.Enum) > 0 && !slices.Contains(v.Enum, value):
		return "", fmt.Errorf("server_variables.%s: %.100q is none of %.300s", name, value, strings.Join(v.Enum, ", "))
	case strings.ContainsAny(value, "@?#\\ \t\r\n"):
		return "", fmt.Errorf("server_variables.%s: %.100q cannot stand in an address", name, value)
	}
	return value, nil
}

// unknownVariables are those of the configuration that no server has.
func (a *API) unknownVariables() error {
	servers := slices.Clone(a.model.Servers)
	for _, op := range a.operations {
		servers = append(servers, op.Servers...)
	}
	for _, name := range sortedKeys(a.config.ServerVariables) {
		if !slices.ContainsFunc(servers, func(s server) bool { return strings.Contains(s.URL, "{"+name+"}") }) {
			return fmt.Errorf("server_variables.%s: no server of the document has such a variable", name)
		}
	}
	return nil
}
