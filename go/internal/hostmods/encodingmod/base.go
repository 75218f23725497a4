package encodingmod

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// base64: (data: string | buffer, form: ("std" | "url")?, ...) with f for the padded encoding of that form.
func (i *instance) base64(c *luau.Call, f func(*base64.Encoding, bool, []byte) (string, *fault)) error {
	form, err := c.TextOpt(1, "std")
	if err != nil {
		return err
	}
	encoding, name := base64.StdEncoding, c.Name()
	switch form {
	case "std":
	case "url":
		encoding, name = base64.URLEncoding, strings.Replace(name, "base64", "base64url", 1)
	default:
		return c.Argument(1, fmt.Sprintf(`must be "std" or "url", got %.40q`, form))
	}
	padded, err := c.BoolOpt(2, form == "std")
	if err != nil {
		return err
	}
	return i.convert(c, name, 2, func(data []byte) (string, *fault) { return f(encoding, padded, data) })
}

func encodeBase64(e *base64.Encoding, padded bool, data []byte) (string, *fault) {
	if !padded {
		e = e.WithPadding(base64.NoPadding)
	}
	return e.EncodeToString(data), nil
}

// decodeBase64 takes padding where there is some. The bits behind the last byte must be zero, so that
// no two texts give the same data but for padding.
func decodeBase64(e *base64.Encoding, _ bool, text []byte) (string, *fault) {
	// The standard library skips line ends, which RFC 4648 does not allow by itself.
	if at := bytes.IndexAny(text, "\r\n"); at >= 0 {
		return "", &fault{at, "a line end is not base64 (take white space out first)"}
	}
	if !bytes.HasSuffix(text, []byte("=")) {
		e = e.WithPadding(base64.NoPadding)
	}
	out := make([]byte, e.DecodedLen(len(text)))
	n, err := e.Strict().Decode(out, text)
	var corrupt base64.CorruptInputError
	if errors.As(err, &corrupt) {
		return "", base64Fault(e, text, int(corrupt))
	}
	return string(out[:n]), nil
}

func base64Fault(e *base64.Encoding, text []byte, at int) *fault {
	if at < len(text) {
		char := text[at : at+1]
		if char[0] == '=' {
			return &fault{at, "padding does not belong"}
		}
		// A character of the alphabet decodes with others around it.
		if _, err := e.WithPadding(base64.NoPadding).DecodeString("AAA" + string(char)); err != nil {
			return &fault{at, fmt.Sprintf("%q does not belong in base64 of this form", char)}
		}
	}
	if len(bytes.TrimRight(text, "="))%4 == 1 {
		return &fault{len(text), "base64 ends early"}
	}
	return &fault{max(0, min(at, len(text)-1)), "bits or padding behind the last byte are wrong"}
}

func encodeHex(data []byte) (string, *fault) { return hex.EncodeToString(data), nil }

func decodeHex(text []byte) (string, *fault) {
	out := make([]byte, hex.DecodedLen(len(text)))
	n, err := hex.Decode(out, text)
	if err == nil {
		return string(out), nil
	}
	for at := 2 * n; at < len(text); at++ {
		if !isHex(text[at]) {
			return "", &fault{at, fmt.Sprintf("%q is no hex digit", text[at:at+1])}
		}
	}
	return "", &fault{len(text), "hex ends in the middle of a byte"}
}

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}
