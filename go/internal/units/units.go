// Package units reads durations, sizes and rates as people write them in configurations and tool files:
// "30s", "64MiB", "10/m". A bare number is seconds or bytes.
package units

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/size"
)

// Rate is how many calls are allowed in a time. The zero value means that there is no limit.
type Rate struct {
	Count int
	Per   time.Duration
}

const maxSeconds = float64(math.MaxInt64 / int64(time.Second))

// ParseDuration reads a text as "30s", "500ms", "1h30m" or "7d", or a number of seconds. It may be zero.
func ParseDuration(v any) (time.Duration, error) {
	switch v := v.(type) {
	case float64:
		if v >= 0 && v < maxSeconds {
			return time.Duration(math.Round(v * float64(time.Second))), nil
		}
	case json.Number: // more than fits
	case string:
		if d, err := parseText(strings.TrimSpace(v)); err == nil && d >= 0 {
			return d, nil
		}
	default:
		return 0, fmt.Errorf(`must be a duration, as "30s", "500ms" or a number of seconds`)
	}
	return 0, fmt.Errorf(`%.40q is no duration: write it as "30s", "500ms" or a number of seconds`, fmt.Sprint(v))
}

// parseText adds days, which Go does not have, and bare seconds.
func parseText(text string) (time.Duration, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if n >= 0 && n < maxSeconds {
			return time.Duration(math.Round(n * float64(time.Second))), nil
		}
		return 0, strconv.ErrRange
	}
	days, rest, found := strings.Cut(text, "d")
	if !found {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseFloat(days, 64)
	if err != nil || !(n >= 0 && n < maxSeconds/86400/2) {
		return 0, strconv.ErrSyntax
	}
	d := time.Duration(n * float64(24*time.Hour))
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	return d + more, err
}

// ParseSize reads a text as "64MiB" or "500KB", or a number of bytes.
func ParseSize(v any) (int64, error) {
	switch v := v.(type) {
	case float64:
		if v > 0 && v < 1<<53 && v == math.Trunc(v) {
			return int64(v), nil
		}
	case json.Number: // more than there is
	case string:
		n, err := size.Parse(v)
		return int64(n), err
	default:
		return 0, fmt.Errorf(`must be a size, as "64MiB" or a number of bytes`)
	}
	return 0, fmt.Errorf(`%.40q is no size: write it as "64MiB" or a number of bytes`, fmt.Sprint(v))
}

var periods = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}

// ParseRate reads a text as "10/s", "100/m", "1000/h" or "5/30s".
func ParseRate(v any) (Rate, error) {
	text, is := v.(string)
	if !is {
		return Rate{}, fmt.Errorf(`must be a rate, as "10/m"`)
	}
	count, period, found := strings.Cut(text, "/")
	n, err := strconv.Atoi(strings.TrimSpace(count))
	period = strings.TrimSpace(period)
	per, known := periods[period]
	if !known && found && err == nil {
		per, err = ParseDuration(period)
	}
	if err != nil || !found || n < 1 || per <= 0 {
		return Rate{}, fmt.Errorf(`%.40q is no rate: write it as "10/s", "100/m" or "5/30s"`, text)
	}
	return Rate{n, per}, nil
}

// ShortDuration is a measured time with the digits that people look at.
func ShortDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}
