package config

import "golang.org/x/net/http/httpguts"

func readServerAuth(t *table) ServerAuth {
	a := ServerAuth{
		Type:  AuthType(t.oneOf("type", string(BearerAuth), string(OAuth), string(NoAuth))),
		Token: t.string("token"), ClientID: t.string("client_id"), ClientSecret: t.string("client_secret"),
		Scopes: t.strings("scopes"), RedirectPort: t.port("redirect_port"),
	}
	t.end()
	t.authKeys(string(a.Type), map[string][]string{
		string(BearerAuth): {"token"}, string(OAuth): {"client_id", "client_secret", "scopes", "redirect_port"}, string(NoAuth): {},
	}, "bearer, oauth, none")
	if a.Type == BearerAuth && a.Token == "" {
		t.missing("token", `what is shown to the server, as "${TOKEN}"`)
	}
	if a.ClientSecret != "" && a.ClientID == "" {
		t.missing("client_id", "whose secret it is")
	}
	return a
}

// authKeys notes a missing type, and keys that the type does not have.
func (t *table) authKeys(kind string, keys map[string][]string, types string) {
	if len(t.values) == 0 {
		return
	}
	if !t.has("type") {
		t.reader.fail(t.path, "needs type: one of "+types)
		return
	}
	if kind == "" {
		return // it was told
	}
	own := map[string]bool{"type": true}
	for _, key := range keys[kind] {
		own[key] = true
	}
	for _, other := range sortedNames(keys) {
		for _, key := range keys[other] {
			if t.has(key) && !own[key] {
				t.fail(key, "is for the type "+other+", and this is "+kind)
			}
		}
	}
}

// readAuths reads the auth of an API: one for all, or one for each security scheme of the document.
func readAuths(t *table) (one APIAuth, schemes map[string]APIAuth) {
	if !t.holdsTables() {
		return readAPIAuth(t), nil
	}
	schemes = map[string]APIAuth{}
	for name, scheme := range t.sections() {
		schemes[name] = readAPIAuth(scheme)
		if len(scheme.values) == 0 {
			t.reader.fail(scheme.path, "needs type: one of "+apiAuthTypes)
		}
	}
	return APIAuth{}, schemes
}

// holdsTables says whether a table has tables and nothing else.
func (t *table) holdsTables() bool {
	for _, v := range t.values {
		if _, is := v.(map[string]any); !is {
			return false
		}
	}
	return len(t.values) > 0
}

const apiAuthTypes = "bearer, basic, api_key, oauth2, none"

func readAPIAuth(t *table) APIAuth {
	a := APIAuth{
		Type:  AuthType(t.oneOf("type", string(BearerAuth), string(BasicAuth), string(KeyAuth), string(OAuth2), string(NoAuth))),
		Token: t.string("token"), User: t.string("user"), Password: t.string("password"),
		Key: t.string("key"), Name: t.string("name"), In: t.oneOf("in", "header", "query", "cookie"),
		ClientID: t.string("client_id"), ClientSecret: t.string("client_secret"), TokenURL: t.string("token_url"), Scopes: t.strings("scopes"),
	}
	t.end()
	t.authKeys(string(a.Type), map[string][]string{
		string(BearerAuth): {"token"}, string(BasicAuth): {"user", "password"}, string(KeyAuth): {"key", "name", "in"},
		string(OAuth2): {"client_id", "client_secret", "token_url", "scopes"}, string(NoAuth): {},
	}, apiAuthTypes)
	a.complete(t)
	return a
}

// complete notes what a type cannot do without.
func (a *APIAuth) complete(t *table) {
	need := func(key, text, what string) {
		if text == "" {
			t.missing(key, what)
		}
	}
	switch a.Type {
	case BearerAuth:
		need("token", a.Token, `what is shown to the service, as "${TOKEN}"`)
	case BasicAuth:
		need("user", a.User, "whose password it is")
	case KeyAuth:
		need("key", a.Key, `what is shown to the service, as "${API_KEY}"`)
		if a.In != "" {
			need("name", a.Name, "of the "+map[string]string{"header": "header", "query": "parameter", "cookie": "cookie"}[a.In])
		}
		if a.Name != "" && a.In != "query" && !httpguts.ValidHeaderFieldName(a.Name) {
			t.fail("name", "is no name of a header or cookie")
		}
	case OAuth2:
		need("client_id", a.ClientID, "who asks for tokens")
		need("client_secret", a.ClientSecret, `its secret, as "${CLIENT_SECRET}"`)
		if t.has("token_url") {
			t.webAddress("token_url", a.TokenURL)
		}
	}
}
