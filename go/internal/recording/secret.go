package recording

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/redact"
)

var (
	inJSON  = regexp.MustCompile(`(?i)("(?:` + redact.CertainNames + `)"\s*:\s*)"(?:[^"\\]|\\.)*"`)
	inQuery = regexp.MustCompile(`(?i)((?:^|[?&])(?:` + redact.CertainNames + `|token|auth|sig|signature|` +
		`x-amz-signature|x-amz-security-token|x-amz-credential|x-goog-signature)=)[^&#\s]*`)
	// What a script has of an earlier answer of a recording, in a request.
	escapedMark = strings.NewReplacer(url.QueryEscape(redact.Mark), redact.Mark, strings.ToLower(url.QueryEscape(redact.Mark)), redact.Mark)
)

// clean takes secrets out of a text: those that the session was told of, and values of JSON whose names say it.
func (s *Session) clean(text string) string {
	if s.options.Redact != nil {
		text = s.options.Redact(text)
	}
	return inJSON.ReplaceAllString(text, `${1}"`+redact.Mark+`"`)
}

func (s *Session) cleanURL(u *url.URL) string {
	c := *u
	c.User, c.Fragment, c.RawFragment = nil, "", ""
	return escapedMark.Replace(s.clean(inQuery.ReplaceAllString(c.String(), "${1}"+redact.Mark)))
}

// cleanForm is clean for a body of fields.
func (s *Session) cleanForm(text string) string {
	return escapedMark.Replace(s.clean(inQuery.ReplaceAllString(text, "${1}"+redact.Mark)))
}

// cleanJSON is clean for a JSON text, which stays one.
func (s *Session) cleanJSON(text []byte) json.RawMessage {
	return canonical([]byte(s.clean(string(text))))
}

// canonical is the one way to write a JSON value; what is none becomes a text.
func canonical(text []byte) json.RawMessage {
	var value any = string(text)
	if tree, err := jsonvalue.Decode(text, jsonvalue.Options{}); err == nil {
		value = tree
	}
	out, err := jsonvalue.Encode(value)
	if err != nil {
		return json.RawMessage(`"?"`)
	}
	return out
}

// isSecretHeader says whether the value of a header is never kept.
func isSecretHeader(name string) bool {
	switch name {
	case "Set-Cookie", "Set-Cookie2", "Cookie", "X-Goog-Api-Key":
		return true
	}
	return redact.SecretName(name)
}

// shownHeaders are those of a request that tell people what it was about. Any other might be a key.
var shownHeaders = []string{"Accept", "Content-Type"}

func (s *Session) requestHeaders(given http.Header) map[string]string {
	kept := map[string]string{}
	for _, name := range shownHeaders {
		if value := given.Get(name); value != "" {
			kept[name] = s.clean(value)
		}
	}
	return kept
}

// connectionHeaders are about one connection, and not about an answer.
var connectionHeaders = map[string]bool{"Connection": true, "Keep-Alive": true, "Transfer-Encoding": true, "Alt-Svc": true}

func (s *Session) responseHeaders(given http.Header) map[string]values {
	kept := map[string]values{}
	for name, values := range given {
		if connectionHeaders[name] {
			continue
		}
		for _, value := range values {
			if isSecretHeader(name) {
				value = redact.Mark
			}
			if name == "Location" {
				value = inQuery.ReplaceAllString(value, "${1}"+redact.Mark)
			}
			kept[s.clean(name)] = append(kept[s.clean(name)], strings.ToValidUTF8(s.clean(value), "?"))
		}
	}
	return kept
}

// publicEnviron are the variables without secrets.
func (s *Session) publicEnviron() map[string]string {
	kept := map[string]string{}
	for name, value := range s.options.Environ {
		if redact.SecretVariable(name) {
			value = redact.Mark
		}
		kept[name] = strings.ToValidUTF8(s.clean(value), "?")
	}
	return kept
}

// Environ are the variables that a replayed test has. They are as they were; those whose values are not kept are as
// they are now, or a mark that stands for a secret.
func (s *Session) Environ() map[string]string {
	all := map[string]string{}
	for name, value := range s.file.Environ {
		if now, set := s.options.Environ[name]; set && strings.Contains(value, redact.Mark) {
			value = now
		}
		all[name] = value
	}
	return all
}

// Grants says whether a variable is one of those that the session was told of, and so none of the machine's.
func (s *Session) Grants(name string) bool {
	_, now := s.options.Environ[name]
	_, then := s.file.Environ[name]
	return now || then
}

func digest(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
