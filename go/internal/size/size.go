// Package size reads and writes sizes in bytes as flags and config do: 64MiB, 1.5GiB, 500KB.
package size

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is a size as a flag. Its zero value means that none was given.
type Bytes int64

var units = []struct {
	name   string
	factor float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// Parse reads a size: a number with a unit, or bytes without one.
func Parse(text string) (Bytes, error) {
	number, factor := strings.TrimSpace(text), 1.0
	for _, u := range units {
		if n := len(number) - len(u.name); n > 0 && strings.EqualFold(number[n:], u.name) {
			number, factor = strings.TrimSpace(number[:n]), u.factor
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(n) || n <= 0 || n*factor >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is no size: write it as 64MiB, 1.5GiB or a number of bytes", text)
	}
	return Bytes(n * factor), nil
}

// Set implements pflag.Value.
func (b *Bytes) Set(text string) error {
	n, err := Parse(text)
	if err == nil {
		*b = n
	}
	return err
}

// Type implements pflag.Value.
func (b *Bytes) Type() string { return "size" }

// String writes a size with three digits at most after the point.
func (b Bytes) String() string {
	if b == 0 {
		return "0B"
	}
	for i := 3; i >= 0; i-- {
		if u := units[i]; float64(b) >= u.factor {
			return strconv.FormatFloat(math.Round(float64(b)/u.factor*10)/10, 'f', -1, 64) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}
