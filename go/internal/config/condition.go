package config

import (
	"encoding/base64"
	"encoding/json"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Condition is on one argument; all that it says must hold.
type Condition struct {
	Equals    any // a JSON tree; nil: says nothing
	Matches   *regexp.Regexp
	In        []any
	Max       float64
	MaxIsSaid bool
}

// Holds says whether an argument is exactly as the condition wants it. A missing argument is never asked.
func (c *Condition) Holds(v any) bool {
	if c.Equals != nil && !reflect.DeepEqual(c.Equals, v) {
		return false
	}
	if c.Matches != nil {
		text, is := v.(string)
		if !is || !c.Matches.MatchString(text) {
			return false
		}
	}
	if c.In != nil && !slices.ContainsFunc(c.In, func(item any) bool { return reflect.DeepEqual(item, v) }) {
		return false
	}
	return !c.MaxIsSaid || atMost(v, c.Max)
}

// atMost is exact for whole numbers that a float64 cannot hold.
func atMost(v any, most float64) bool {
	switch v := v.(type) {
	case float64:
		return v <= most
	case json.Number:
		n, ok := new(big.Int).SetString(string(v), 10)
		return ok && new(big.Float).SetInt(n).Cmp(big.NewFloat(most)) <= 0
	}
	return false
}

// MayHold says whether whoever gets an argument may take it for what the condition says: a number that is written as a
// text, a text within a list. It is for rules that keep calls back, which a call must not get round by the type of an
// argument.
func (c *Condition) MayHold(v any) bool {
	if c.Holds(v) {
		return true
	}
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, c.MayHold)
	case map[string]any:
		if text, ok := bytesOf(v); ok {
			return c.MayHold(text)
		}
		for _, inner := range v {
			if c.MayHold(inner) {
				return true
			}
		}
		return false
	case nil:
		return false
	}
	return c.holdsAsText(v)
}

// holdsAsText compares a single value by what it reads as.
func (c *Condition) holdsAsText(v any) bool {
	text := reads(v)
	if c.Equals != nil && !readsAs(text, c.Equals) {
		return false
	}
	if c.Matches != nil && !c.Matches.MatchString(text) {
		return false
	}
	if c.In != nil && !slices.ContainsFunc(c.In, func(item any) bool { return readsAs(text, item) }) {
		return false
	}
	if !c.MaxIsSaid {
		return true
	}
	n, ok := numberIn(text)
	return ok && n.Cmp(big.NewFloat(c.Max)) <= 0
}

// reads is a single value as a text.
func reads(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case json.Number:
		return string(v)
	}
	return ""
}

// readsAs says whether a text may be taken for a value.
func readsAs(text string, v any) bool {
	switch v := v.(type) {
	case string:
		return text == v
	case bool:
		said, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(text)))
		return err == nil && said == v
	case float64, json.Number:
		said, ok := numberIn(text)
		wanted, _ := numberIn(reads(v))
		return ok && wanted != nil && said.Cmp(wanted) == 0
	}
	return false
}

// numberIn reads a number, as near as a float64: what differs less is the same number to whoever gets it.
func numberIn(text string) (*big.Float, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || n != n {
		return nil, false
	}
	return big.NewFloat(n), true
}

// bytesOf is a text that stands in JSON as base64.
func bytesOf(v map[string]any) (string, bool) {
	text, ok := v["$bytes"].(string)
	if !ok || len(v) != 1 {
		return "", false
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	return string(raw), err == nil
}
