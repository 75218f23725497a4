package luau

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// maxExact is the largest whole number that a float64 holds together with all smaller ones.
const maxExact = 1<<53 - 1

// signed writes a number where that holds n exactly, else an integer.
func (e *encoder) signed(n int64) {
	if n >= -maxExact && n <= maxExact {
		e.number(float64(n))
		return
	}
	e.bits(capi.TagInteger, uint64(n))
}

func (e *encoder) unsigned(n uint64) error {
	if n <= math.MaxInt64 {
		e.signed(int64(n))
		return nil
	}
	return e.text(capi.TagExact, strconv.FormatUint(n, 10))
}

func (e *encoder) big(n *big.Int) error {
	switch {
	case n == nil:
		e.tag(capi.TagNil)
	case n.IsInt64():
		e.signed(n.Int64())
	default:
		return e.text(capi.TagExact, n.String())
	}
	return nil
}

// exact writes digits as the smallest kind of number that holds them.
func (e *encoder) exact(digits string) error {
	if strings.HasPrefix(digits, "+") {
		return fail(CodeConvert, "an Exact that is no whole number in decimal digits: %.40q", digits)
	}
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		e.signed(n)
		return nil
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok || strings.Contains(digits, "_") {
		return fail(CodeConvert, "an Exact that is no whole number in decimal digits: %.40q", digits)
	}
	return e.text(capi.TagExact, n.String())
}

// exactOf reads digits, which have one form for each number: no zeros in front, and none that an
// integer holds.
func exactOf(digits []byte) (any, error) {
	rest := bytes.TrimPrefix(digits, []byte("-"))
	good := len(rest) >= 19 && rest[0] != '0'
	for i := 0; i < len(rest) && good; i++ {
		good = rest[i] >= '0' && rest[i] <= '9'
	}
	if good && len(rest) == 19 {
		_, err := strconv.ParseInt(string(digits), 10, 64)
		good = err != nil
	}
	if !good {
		return nil, fail(CodeConvert, "flat exact number: not a whole number outside 64 bits, in decimal digits")
	}
	return Exact(digits), nil
}

// decimal writes a number in JSON's notation: whole ones exactly, others as the nearest float64.
func (e *encoder) decimal(text string) error {
	if !strings.ContainsAny(text, ".eE") {
		return e.exact(text)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fail(CodeConvert, "a json.Number that is no number: %.40q", text)
	}
	e.number(n)
	return nil
}
