// Package redact takes secrets out of what people and clients see.
package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// shortest is the length below which a text is no secret: it would be found everywhere.
const shortest = 4

// Redactor replaces secrets. Goroutines may share it; nil replaces nothing.
type Redactor struct {
	replacer *strings.Replacer
	longest  int
}

// New makes a Redactor for texts that must not be seen, in plain and as JSON, URLs, base64 and hexadecimal
// digits write them. Texts of less than four bytes are left out.
func New(secrets []string) *Redactor {
	var forms []string
	for _, secret := range secrets {
		if len(secret) >= shortest {
			forms = append(forms, formsOf(secret)...)
		}
		forms = append(forms, linesOf(secret)...)
	}
	if len(forms) == 0 {
		return nil
	}
	// At one place the first pair that fits is taken: the longest.
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	forms = slices.Compact(forms)
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, Mark)
	}
	return &Redactor{strings.NewReplacer(pairs...), len(forms[0])}
}

// shortestLine is the length below which a line of a secret says nothing.
const shortestLine = 8

// linesOf gives the lines of a secret that has several, as a key in PEM: what is printed is seen line by line.
func linesOf(secret string) (forms []string) {
	if !strings.Contains(secret, "\n") {
		return nil
	}
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= shortestLine {
			forms = append(forms, formsOf(line)...)
		}
	}
	return forms
}

// formsOf gives a secret as it may be written.
func formsOf(secret string) []string {
	forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), (&url.URL{Path: secret}).EscapedPath()}
	for _, form := range forms[1:] {
		forms = append(forms, lowerEscapes(form))
	}
	if text, err := jsonvalue.Encode(secret); err == nil {
		forms = append(forms, inJSON(string(text[1:len(text)-1]))...)
	}
	if text, err := json.Marshal(secret); err == nil { // with <, > and & as escapes
		forms = append(forms, inJSON(string(text[1:len(text)-1]))...)
	}
	forms = append(forms, hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))))
	forms = append(forms, inBase64(secret, base64.RawStdEncoding)...)
	return append(forms, inBase64(secret, base64.RawURLEncoding)...)
}

// inJSON adds the form of JSON within JSON, as in a logged body.
func inJSON(form string) []string {
	list := []string{form, strings.ReplaceAll(form, "/", `\/`)}
	if text, err := jsonvalue.Encode(form); err == nil {
		list = append(list, string(text[1:len(text)-1]))
	}
	return list
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(form string) string {
	out := []byte(form)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:i+3], bytes.ToLower(out[i+1:i+3]))
			i += 2
		}
	}
	return string(out)
}

// inBase64 gives the digits that stand for a secret and nothing else, wherever in a longer text it begins,
// as in the "user:password" of a header. Four bytes leave too few digits to be told from chance.
func inBase64(secret string, encoding *base64.Encoding) []string {
	const fewest = 6 // digits; less would be found by chance
	var list []string
	for before := range 3 {
		text := encoding.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
		first, last := (before*8+5)/6, (before+len(secret))*8/6
		if last-first >= fewest {
			list = append(list, text[first:last])
		}
	}
	return list
}

// Text replaces the secrets in a text.
func (r *Redactor) Text(text string) string {
	if r == nil {
		return text
	}
	return r.replacer.Replace(text)
}

// Bytes replaces the secrets in a text.
func (r *Redactor) Bytes(text []byte) []byte {
	if r == nil {
		return text
	}
	return []byte(r.replacer.Replace(string(text)))
}

// Value replaces the secrets in the strings and keys of a JSON tree, in a copy.
func (r *Redactor) Value(v any) any {
	if r == nil {
		return v
	}
	return jsonvalue.EachText(v, r.Text)
}

// Longest is the length of the longest text that is replaced: whoever redacts a stream holds back so much.
func (r *Redactor) Longest() int {
	if r == nil {
		return 0
	}
	return r.longest
}
