package timemod

import (
	"math"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// parseDuration: (text: string) -> number
func parseDuration(c *luau.Call) error {
	text, err := c.Text(0)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return formatError(c, text, "a duration such as 1h30m, 1.5s or 500ms (units: h, m, s, ms, us, ns)")
	}
	return c.ReturnNumber(d.Seconds())
}

// formatDuration: (seconds: number) -> string
func formatDuration(c *luau.Call) error {
	seconds, err := c.Number(0)
	if err != nil {
		return err
	}
	const most = float64(math.MaxInt64) / 1e9
	if !(seconds > -most && seconds < most) {
		return c.Argument(0, "must be a number of seconds, at most 292 years")
	}
	return c.ReturnString(durationText(time.Duration(math.Round(seconds * 1e9))))
}

// durationText is Go's own text without parts that are zero: "1h30m", not "1h30m0s".
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
