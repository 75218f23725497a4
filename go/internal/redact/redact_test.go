package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	r := New([]string{"hunter2", "hunter2-long", `a"b<c>&\` + "\n" + `/d e+é`, "abc", ""})
	odd := `a"b<c>&\` + "\n" + `/d e+é`
	standard, err := json.Marshal(odd)
	assert.NoError(t, err)
	twice, err := json.Marshal(string(standard))
	assert.NoError(t, err)
	for text, want := range map[string]string{
		"password hunter2, hunter2-long!": "password [redacted], [redacted]!",
		"abc is too short":                "abc is too short",
		"x=" + odd:                        "x=[redacted]",
		"json " + string(standard):        `json "[redacted]"`,
		"?q=" + url.QueryEscape(odd):      "?q=[redacted]",
		"/p/" + url.PathEscape(odd):       "/p/[redacted]",
		strings.ToLower(url.QueryEscape("Hunter")) + hex.EncodeToString([]byte("hunter2")): "hunter[redacted]",
	} {
		assert.Equal(t, want, r.Text(text))
	}
	assert.NotContains(t, r.Text(string(twice)), "é")
	for _, user := range []string{"", "a", "ab", "abc", "user"} {
		header := base64.StdEncoding.EncodeToString([]byte(user + ":hunter2-long"))
		assert.Contains(t, r.Text("Authorization: Basic "+header), Mark, user)
	}
	assert.Equal(t, []byte("[redacted]"), r.Bytes([]byte("hunter2")))
}

func TestValue(t *testing.T) {
	r := New([]string{"hunter2", "12345678901234567890"})
	in := map[string]any{"a": []any{"x hunter2", 1.0, nil, true}, "hunter2": json.Number("12345678901234567890"), "n": json.Number("99999999999999999999")}
	assert.Equal(t, map[string]any{"a": []any{"x [redacted]", 1.0, nil, true}, "[redacted]": "[redacted]", "n": json.Number("99999999999999999999")}, r.Value(in))
	assert.Equal(t, "x hunter2", in["a"].([]any)[0], "the value stays as it was")
}

func TestNothingToRedact(t *testing.T) {
	r := New([]string{"a", ""})
	assert.Equal(t, "a text", r.Text("a text"))
	assert.Equal(t, "a", r.Value("a"))
	assert.Zero(t, r.Longest())
}

// Whatever a secret of five bytes or more is and in whichever of the forms it is written, what is left does not have it.
func TestNoFormIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringN(5, 30, -1).Draw(t, "secret")
		before, after := rapid.StringMatching(`[ -~]{0,5}`).Draw(t, "before"), rapid.StringMatching(`[ -~]{0,5}`).Draw(t, "after")
		r := New([]string{secret})
		text, err := json.Marshal(before + secret + after)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{
			before + secret + after, string(text), url.QueryEscape(before + secret + after),
			url.PathEscape(before + secret + after), base64.StdEncoding.EncodeToString([]byte(before + secret + after)),
			base64.RawURLEncoding.EncodeToString([]byte(before + secret + after)),
		} {
			if got := r.Text(form); !strings.Contains(got, Mark) {
				t.Fatalf("%q is shown as %q", form, got)
			}
		}
	})
}

// A secret of several lines may be seen line by line.
func TestLinesOfSecrets(t *testing.T) {
	r := New([]string{"-----BEGIN KEY-----\r\nabcdefghij0123456789\nshort\n-----END KEY-----\n"})
	assert.Equal(t, "[redacted] and [redacted]; short", r.Text("abcdefghij0123456789 and -----END KEY-----; short"))
}
