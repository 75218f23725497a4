package tooldef

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The bounds of what a definition may ask for.
const (
	maxTimeout = 24 * time.Hour
	minMemory  = 1 << 20
	maxMemory  = 64 << 30
	maxCalls   = 1_000_000
)

// parseDuration takes "30s", "500ms", "1m30s"; a number means seconds.
func parseDuration(v any) (time.Duration, error) {
	const hint = `write it as "30s", "500ms" or a number of seconds`
	var d time.Duration
	switch v := v.(type) {
	case float64:
		if !(v > 0) || v > maxTimeout.Seconds() {
			return 0, fmt.Errorf("must be above 0 and at most 24h; %s", hint)
		}
		d = time.Duration(v * float64(time.Second))
	case string:
		var err error
		if d, err = time.ParseDuration(strings.TrimSpace(v)); err != nil {
			return 0, fmt.Errorf("%q is no duration; %s", clip(v), hint)
		}
	default:
		return 0, fmt.Errorf("must be a duration, got %s; %s", kindOf(v), hint)
	}
	if d <= 0 || d > maxTimeout {
		return 0, fmt.Errorf("must be above 0 and at most 24h; %s", hint)
	}
	return d, nil
}

var sizeUnits = []struct {
	name   string
	factor float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}

// parseSize takes "64MiB", "1.5GiB"; a number means bytes.
func parseSize(v any) (int64, error) {
	const hint = `write it as "64MiB" or a number of bytes`
	var n float64
	switch v := v.(type) {
	case float64:
		n = v
	case string:
		number, factor := strings.TrimSpace(v), 1.0
		for _, u := range sizeUnits {
			if at := len(number) - len(u.name); at > 0 && strings.EqualFold(number[at:], u.name) {
				number, factor = strings.TrimSpace(number[:at]), u.factor
				break
			}
		}
		parsed, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no size; %s", clip(v), hint)
		}
		n = parsed * factor
	default:
		return 0, fmt.Errorf("must be a size, got %s; %s", kindOf(v), hint)
	}
	if !(n >= minMemory && n <= maxMemory) {
		return 0, fmt.Errorf("must be at least 1MiB and at most 64GiB; %s", hint)
	}
	return int64(n), nil
}

// ParseRate takes "10/1m", ten calls in each minute; also "10/m" and "2/s".
func ParseRate(text string) (Rate, error) {
	bad := fmt.Errorf(`%q is no rate; write it as "10/1m": ten calls in a minute`, clip(text))
	calls, per, found := strings.Cut(text, "/")
	if !found {
		return Rate{}, bad
	}
	n, err := strconv.Atoi(strings.TrimSpace(calls))
	if err != nil {
		return Rate{}, bad
	}
	per = strings.TrimSpace(per)
	if len(per) == 1 {
		per = "1" + per
	}
	d, err := time.ParseDuration(per)
	if err != nil {
		return Rate{}, bad
	}
	return checkRate(Rate{Calls: n, Per: d})
}

func checkRate(r Rate) (Rate, error) {
	if r.Calls < 1 || r.Calls > maxCalls || r.Per <= 0 || r.Per > maxTimeout {
		return Rate{}, fmt.Errorf("a rate has 1 to %d calls in a time above 0 and at most 24h", maxCalls)
	}
	return r, nil
}
