package yamltree

import (
	"encoding/json"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
)

// The numbers of the core schema. Octal is 0o7, not 07; there are no underscores and no base 60.
var (
	decimal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-+]?[0-9]+$`) })
	float   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	})
	octal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^0o[0-7]+$`) })
	// What YAML 1.1 reads as a boolean, a number or a date.
	old = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?i:y|n|yes|no|on|off|[-+]?[0-9][-0-9_:.+tz]*|[-+]?0[xb][0-9a-f_]+)$`)
	})
	hexa = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^0x[0-9a-fA-F]+$`) })
)

// maxDigits of an integer: reading one takes time with the square of its length.
const maxDigits = 10_000

// Resolve is the value of a plain scalar in the core schema.
func Resolve(text string) any {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return math.Inf(1)
	case "-.inf", "-.Inf", "-.INF":
		return math.Inf(-1)
	case ".nan", ".NaN", ".NAN":
		return math.NaN()
	}
	if first := text[0]; first != '-' && first != '+' && first != '.' && (first < '0' || first > '9') || len(text) > maxDigits {
		return text
	}
	switch {
	case decimal().MatchString(text):
		return integer(text, 10)
	case octal().MatchString(text):
		return integer(text[2:], 8)
	case hexa().MatchString(text):
		return integer(text[2:], 16)
	case float().MatchString(text):
		n, _ := strconv.ParseFloat(text, 64) // beyond the range it is infinite
		return n
	}
	return text
}

// integer keeps every digit: an int64 while that holds it, else the digits.
func integer(digits string, base int) any {
	if n, err := strconv.ParseInt(digits, base, 64); err == nil {
		return n
	}
	n, _ := new(big.Int).SetString(strings.TrimPrefix(digits, "+"), base)
	if n.IsInt64() {
		return n.Int64()
	}
	return json.Number(n.String())
}

// Old says whether YAML 1.1 reads a text as a boolean, a number or a date.
func Old(text string) bool { return old().MatchString(text) }

// scalar is the value of a scalar node.
func (r *reader) scalar(node *yaml.Node) (any, error) {
	value, err := tagged(node)
	if err != nil || !r.JSON {
		return value, err
	}
	switch n := value.(type) {
	case int64:
		return exact(n), nil
	case float64:
		if math.IsInf(n, 0) || math.IsNaN(n) {
			return nil, fail(node, "%.60s is no number of JSON; put a text in quotes", node.Value)
		}
	}
	return value, nil
}

// exact is an integer as trees of JSON have it.
func exact(n int64) any {
	const most = 1<<53 - 1
	if n < -most || n > most {
		return json.Number(strconv.FormatInt(n, 10))
	}
	return float64(n)
}

// tagged is the value of a scalar node by its tag or, without one, by its text.
func tagged(node *yaml.Node) (any, error) {
	if node.Style&yaml.TaggedStyle == 0 {
		if node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			return node.Value, nil
		}
		return Resolve(node.Value), nil
	}
	value := Resolve(node.Value)
	switch tag := node.ShortTag(); tag {
	case "!!str", "!":
		return node.Value, nil
	case "!!null":
		if value == nil {
			return nil, nil
		}
	case "!!bool":
		if _, ok := value.(bool); ok {
			return value, nil
		}
	case "!!int":
		switch value.(type) {
		case int64, json.Number:
			return value, nil
		}
	case "!!float":
		switch value := value.(type) {
		case float64:
			return value, nil
		case int64:
			return float64(value), nil
		}
	default:
		return nil, fail(node, "the tag %.60q is not of the core schema", tag)
	}
	return nil, fail(node, "%.60q is not of its tag %s", node.Value, node.ShortTag())
}
