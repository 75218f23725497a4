package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

func TestSecretName(t *testing.T) {
	for _, name := range []string{
		"token", "access_token", "accessToken", "password", "PGPASSWORD", "user-password", "passwd", "secret", "clientSecret", "api_key",
		"apikey", "apiKey", "API-Key", "X-Goog-Api-Key", "authorization", "Proxy-Authorization", "cookie", "Set-Cookie", "credentials",
		"private_key", "privateKey", "PRIVATE KEY", "SECRET_ENV_KEY", "ssh.passphrase",
		"Password ", "password2", "token_1", "api_keys", "pwd", "passcode",
	} {
		assert.True(t, SecretName(name), name)
		assert.True(t, secretKey([]byte(name)), name)
		assert.True(t, SecretVariable(name), name)
	}
	for _, name := range []string{
		"", "2", "key", "Key", "sha256", "key1", "monkey", "KEY", "tokens", "max_tokens", "user", "keyboard", "passage", "author", "city", "name", "secretary",
		strings.Repeat("x", longestName) + "token",
	} {
		assert.False(t, SecretName(name), name)
	}
	assert.True(t, SecretVariable("STRIPEKEY"))
	assert.False(t, SecretVariable("HOME"))
	assert.True(t, secretKey([]byte(`pass\u0077ord`)))
	assert.False(t, secretKey([]byte(`pass\u00zzord`)))
}

func TestKeys(t *testing.T) {
	for text, want := range map[string]string{
		`{"user":"ann","password":"userpw999"}`:      `{"user":"ann","password":"[redacted]"}`,
		`{"nested":[{"token":"tt1","n":1}]}`:         `{"nested":[{"token":"[redacted]","n":1}]}`,
		`{"secret":{"a":["x}",{"b":1}]},"c":2}`:      `{"secret":"[redacted]","c":2}`,
		`{"pin_token" : 12345 , "c":2}`:              `{"pin_token" : "[redacted]" , "c":2}`,
		`{"token":true,"secret":null,"password":""}`: `{"token":true,"secret":null,"password":""}`,
		`{"pass\u0077ord":"x"}`:                      `{"pass\u0077ord":"[redacted]"}`,
		`{"password":"a\"b\\","c":"token: x"}`:       `{"password":"[redacted]","c":"token: x"}`,
		`["token","secret"]`:                         `["token","secret"]`,
		`{"a":"\"password\":\"x\""}`:                 `{"a":"\"password\":\"x\""}`,
		`{"password":"cut off he`:                    `{"password":"[redacted]"`,
		`{"password":{"a":[1,`:                       `{"password":"[redacted]"`,
		`{"password":`:                               `{"password":`,
		`{"password`:                                 `{"password`,
		`{"api_key":-1.5e3}`:                         `{"api_key":"[redacted]"}`,
		``:                                           ``,
	} {
		assert.Equal(t, want, string(Keys([]byte(text))))
	}
	plain := []byte(`{"a":1}`)
	assert.Same(t, &plain[0], &Keys(plain)[0], "nothing is copied where nothing is secret")
}

// redactedTree is what Keys does, for a tree.
func redactedTree(v any) any {
	switch v := v.(type) {
	case map[string]any:
		made := map[string]any{}
		for key, item := range v {
			_, flag := item.(bool)
			if SecretName(key) && !flag && item != nil && item != "" {
				made[key] = Mark
			} else {
				made[key] = redactedTree(item)
			}
		}
		return made
	case []any:
		made := make([]any, len(v))
		for i, item := range v {
			made[i] = redactedTree(item)
		}
		return made
	}
	return v
}

func trees() *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Map(rapid.StringMatching(`[a-z"\\{}\[\]:, \x00-\x1fé]{0,8}`), func(s string) any { return s }),
		rapid.Map(rapid.Float64Range(-1e6, 1e6), func(f float64) any { return f }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Just[any](nil),
	)
	key := rapid.OneOf(rapid.SampledFrom([]string{"token", "a", "api_key", "key", `se"cret`, "clientSecret"}), rapid.StringMatching(`[a-z"\\:]{0,4}`))
	var of func(depth int) *rapid.Generator[any]
	of = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return leaf
		}
		inner := rapid.Deferred(func() *rapid.Generator[any] { return of(depth - 1) })
		return rapid.OneOf(leaf,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(key, inner, 0, 4), func(m map[string]any) any { return m }))
	}
	return of(4)
}

// A JSON text stays one, however it is written, and has no secret but at its place a mark; of one that is cut off no
// secret is left either.
func TestKeysOfAnyJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := trees().Draw(t, "tree")
		compact, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		loose, err := json.MarshalIndent(tree, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{compact, loose} {
			got, err := jsonvalue.Decode(Keys(text), jsonvalue.Options{})
			if err != nil {
				t.Fatalf("%s: %s", Keys(text), err)
			}
			assert.Equal(t, redactedTree(tree), got)
			cut := rapid.IntRange(0, len(text)).Draw(t, "cut")
			Keys(text[:cut])
		}
	})
	long, err := json.Marshal(map[string]any{"a": []any{map[string]any{"secret": strings.Repeat("hush ", 20)}}})
	assert.NoError(t, err)
	for cut := range len(long) {
		assert.NotContains(t, string(Keys(long[:cut])), "hush")
	}
}

func TestSecrets(t *testing.T) {
	assert.Equal(t, []string{"12345678", "deep", "hush", "x"}, Secrets(map[string]any{
		"url": "https://example.com", "api_key": "hush", "secret": map[string]any{"a": []any{"deep", "x", nil, true, ""}},
		"list": []any{map[string]any{"password": 12345678.0}}, "port": 80.0,
	}))
	assert.Empty(t, Secrets(nil))
}

func BenchmarkKeys(b *testing.B) {
	text := []byte(`{"message":"hello, world"}`)
	b.ReportAllocs()
	for b.Loop() {
		Keys(text)
	}
}
