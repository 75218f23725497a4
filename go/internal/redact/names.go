package redact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// CertainNames is a pattern of names whose values are secret wherever they stand. Names that mean something else as
// often, as next_token, are not among them: it is for texts that others go on working with, as recordings.
const CertainNames = `access_?token|refresh_?token|id_?token|session_?token|client_?secret|api_?key|api_?secret|secret_?key|` +
	`private_?key|password|passwd|authorization`

// secretEnds are what names of secrets end with, without regard to case and what is between their words.
var secretEnds = []string{
	"token", "password", "passwords", "passwd", "passphrase", "secret", "secrets", "authorization", "credential", "credentials",
	"cookie", "cookies", "jwt", "pwd", "passcode", "passcodes", "apikey", "privatekey", "secretkey", "accesskey", "signingkey", "encryptionkey",
	"apikeys", "privatekeys", "secretkeys", "accesskeys",
}

// longestName is the length above which a key is no name.
const longestName = 100

// SecretName tells whether a key's name says that its value is secret: api_key, userPassword, Proxy-Authorization.
func SecretName(key string) bool { return secretName(key) }

func secretName[T string | []byte](key T) bool {
	for len(key) > 0 && (key[len(key)-1] >= '0' && key[len(key)-1] <= '9' || key[len(key)-1] == ' ' || key[len(key)-1] == '_') {
		key = key[:len(key)-1] // password2
	}
	if len(key) == 0 || len(key) > longestName || !strings.ContainsRune("delnsty", rune(key[len(key)-1]|0x20)) {
		return false // no name of secretEnds ends so
	}
	flat := make([]byte, 0, longestName)
	for i := range len(key) {
		switch c := key[i]; {
		case c == '_' || c == '-' || c == ' ' || c == '.':
		case c >= 'A' && c <= 'Z':
			flat = append(flat, c|0x20)
		default:
			flat = append(flat, c)
		}
	}
	for _, end := range secretEnds {
		if len(flat) >= len(end) && string(flat[len(flat)-len(end):]) == end {
			return true
		}
	}
	return endsInKey(key)
}

// endsInKey says whether the last of several words is key.
func endsInKey[T string | []byte](key T) bool {
	at := len(key) - len("key")
	if at < 1 || !strings.EqualFold(string(key[at:]), "key") {
		return false
	}
	before := key[at-1]
	return before == '_' || before == '-' || before == ' ' || before == '.' || key[at] == 'K' && before >= 'a' && before <= 'z'
}

// SecretVariable tells whether the name of an environment variable says that its value is secret.
func SecretVariable(name string) bool {
	return secretName(name) || strings.HasSuffix(strings.ToUpper(name), "KEY")
}

// Secrets lists the texts of a tree that stand below keys whose names say that they are secret, and the numbers as
// scripts write them.
func Secrets(tree any) []string {
	var list []string
	collect(tree, false, func(text string) { list = append(list, text) })
	slices.Sort(list)
	return slices.Compact(list)
}

func collect(v any, secret bool, add func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			collect(item, secret || secretName(key), add)
		}
	case []any:
		for _, item := range v {
			collect(item, secret, add)
		}
	case nil, bool:
	case float64:
		if secret {
			add(string(jsonvalue.AppendNumber(nil, v)))
		}
	default: // texts, and exact numbers
		if text := fmt.Sprint(v); secret && text != "" {
			add(text)
		}
	}
}
