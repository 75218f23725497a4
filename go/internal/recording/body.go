package recording

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// body is what people read of bytes: a text, a text of several lines as a list of them, or base64 where they are
// no text.
type body struct{ data []byte }

func newBody(data []byte) *body {
	if len(data) == 0 {
		return nil
	}
	return &body{data}
}

func (b *body) bytes() []byte {
	if b == nil {
		return nil
	}
	return b.data
}

type inBase64 struct {
	Base64 string `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (b *body) MarshalJSON() ([]byte, error) {
	if !utf8.Valid(b.data) {
		return json.Marshal(inBase64{base64.StdEncoding.EncodeToString(b.data)})
	}
	text := string(b.data)
	if lines := strings.Split(text, "\n"); len(lines) > 1 {
		return marshal(lines)
	}
	return marshal(text)
}

// values are those of a header. A single one is written as a text.
type values []string

// MarshalJSON implements json.Marshaler.
func (v values) MarshalJSON() ([]byte, error) {
	if len(v) == 1 {
		return marshal(v[0])
	}
	return marshal([]string(v))
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *values) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*v = values{one}
		return nil
	}
	if json.Unmarshal(text, (*[]string)(v)) != nil {
		return errors.New("the value of a header must be a text, or a list of texts")
	}
	return nil
}

// marshal leaves <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(out.String(), "\n")), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *body) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		b.data = []byte(one)
		return nil
	}
	var lines []string
	if json.Unmarshal(text, &lines) == nil {
		b.data = []byte(strings.Join(lines, "\n"))
		return nil
	}
	var coded inBase64
	if json.Unmarshal(text, &coded) == nil {
		data, err := base64.StdEncoding.DecodeString(coded.Base64)
		if err == nil {
			b.data = data
			return nil
		}
	}
	return errors.New(`a body must be a text, a list of lines, or {"base64": "..."}`)
}
