package tooldef

import (
	"fmt"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/units"
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
	if text, ok := v.(string); ok {
		v = strings.TrimSpace(text)
	}
	d, err := units.ParseDuration(v)
	switch text, isText := v.(string); {
	case err != nil && isText:
		return 0, fmt.Errorf("%q is no duration; %s", clip(text), hint)
	case err != nil && !isNumber(v):
		return 0, fmt.Errorf("must be a duration, got %s; %s", kindOf(v), hint)
	case err != nil || d <= 0 || d > maxTimeout:
		return 0, fmt.Errorf("must be above 0 and at most 24h; %s", hint)
	}
	return d, nil
}

// parseSize takes "64MiB", "1.5GiB"; a number means bytes.
func parseSize(v any) (int64, error) {
	const hint = `write it as "64MiB" or a number of bytes`
	if text, ok := v.(string); ok {
		v = strings.TrimSpace(text)
	}
	n, err := units.ParseSize(v)
	switch text, isText := v.(string); {
	case err != nil && isText:
		return 0, fmt.Errorf("%q is no size; %s", clip(text), hint)
	case err != nil && !isNumber(v):
		return 0, fmt.Errorf("must be a size, got %s; %s", kindOf(v), hint)
	case err != nil || n < minMemory || n > maxMemory:
		return 0, fmt.Errorf("must be at least 1MiB and at most 64GiB; %s", hint)
	}
	return n, nil
}

func isNumber(v any) bool {
	_, ok := v.(float64)
	return ok
}

// parseRate takes "10/1m", ten calls in each minute; also "10/m" and "2/s".
func parseRate(text string) (Rate, error) {
	r, err := units.ParseRate(text)
	if err != nil {
		return Rate{}, fmt.Errorf(`%q is no rate; write it as "10/1m": ten calls in a minute`, clip(text))
	}
	return checkRate(Rate{Calls: r.Count, Per: r.Per})
}

func checkRate(r Rate) (Rate, error) {
	if r.Calls < 1 || r.Calls > maxCalls || r.Per <= 0 || r.Per > maxTimeout {
		return Rate{}, fmt.Errorf("a rate has 1 to %d calls in a time above 0 and at most 24h", maxCalls)
	}
	return r, nil
}
