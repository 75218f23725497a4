package config

import "strings"

func readAPI(c *Config, t *table) API {
	a := API{
		Spec: t.string("spec"), BaseURL: t.string("base_url"),
		Headers: t.headers("headers"), Variables: t.texts("variables"),
		Include: readFilter(t.section("include")), Exclude: readFilter(t.section("exclude")),
		Description: t.string("description"), MaxConcurrent: t.count("max_concurrent", 1),
		Timeout: t.duration("timeout"), Disabled: t.bool("disabled"),
	}
	a.Auth, a.Schemes = readAuths(t.section("auth"))
	t.end()
	if a.Spec == "" {
		t.missing("spec", `the OpenAPI document, as "petstore.yaml" or "https://example.com/openapi.json"`)
	}
	if problem := specProblem(a.Spec); problem != "" {
		t.fail("spec", problem)
	}
	if t.has("base_url") {
		t.webAddress("base_url", a.BaseURL)
	}
	if !isAddress(a.Spec) {
		a.Spec = c.Path(a.Spec)
	}
	return a
}

func readFilter(t *table) Filter {
	f := Filter{Tags: t.patterns("tags", false), Paths: t.patterns("paths", false), Operations: t.patterns("operations", false)}
	t.end()
	return f
}

func isAddress(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// specProblem says why a text is neither a path nor an address.
func specProblem(spec string) string {
	if isAddress(spec) {
		return addressProblem(spec)
	}
	if scheme, _, is := strings.Cut(spec, "://"); is && !strings.ContainsAny(scheme, "/.") {
		return "must be a path, or begin with http:// or https://"
	}
	return ""
}
