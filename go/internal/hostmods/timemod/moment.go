package timemod

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Moments go from the year 0 to the year 9999, which is what RFC 3339 can write.
var (
	earliest = float64(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	latest   = float64(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
)

func moment(seconds float64) (time.Time, bool) {
	if !(seconds >= earliest && seconds < latest) {
		return time.Time{}, false
	}
	whole := math.Floor(seconds)
	return time.Unix(int64(whole), int64((seconds-whole)*1e9)).UTC(), true
}

func momentArgument(c *luau.Call, i int) (time.Time, error) {
	seconds, err := c.Number(i)
	if err != nil {
		return time.Time{}, err
	}
	t, ok := moment(seconds)
	if !ok {
		return t, c.Argument(i, "must be seconds of a moment in the years 0 to 9999, got "+luau.FormatNumber(seconds))
	}
	return t, nil
}

// zoneArgument reads an offset from UTC: seconds, or a text such as "Z" or "+05:30".
func zoneArgument(c *luau.Call, i int) (*time.Location, error) {
	if c.IsNil(i) {
		return time.UTC, nil
	}
	if c.Type(i) == "string" {
		text, err := c.Text(i)
		if err != nil {
			return nil, err
		}
		seconds, ok := parseOffset(text)
		if !ok {
			return nil, c.Argument(i, fmt.Sprintf(`must be an offset such as "Z", "+02:00" or a number of seconds, got %q`, text))
		}
		return zone(seconds), nil
	}
	seconds, err := c.Int(i)
	if err != nil {
		return nil, err
	}
	if seconds <= -86400 || seconds >= 86400 || seconds%60 != 0 {
		return nil, c.Argument(i, "must be an offset of whole minutes, less than a day, in seconds")
	}
	return zone(seconds), nil
}

func zone(seconds int) *time.Location {
	if seconds == 0 {
		return time.UTC
	}
	return time.FixedZone("", seconds)
}

// parseOffset reads "Z" and "+hh:mm".
func parseOffset(s string) (seconds int, ok bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if !shaped(s, "+00:00") && !shaped(s, "-00:00") {
		return 0, false
	}
	hours, minutes := digits(s[1:3]), digits(s[4:6])
	if hours > 23 || minutes > 59 {
		return 0, false
	}
	seconds = hours*3600 + minutes*60
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// shaped says whether s looks like the pattern, in which 0 is any digit.
func shaped(s, pattern string) bool {
	if len(s) != len(pattern) {
		return false
	}
	for i := range len(s) {
		if pattern[i] == '0' && (s[i] < '0' || s[i] > '9') || pattern[i] != '0' && s[i] != pattern[i] {
			return false
		}
	}
	return true
}

func digits(s string) int {
	n := 0
	for i := range len(s) {
		n = 10*n + int(s[i]-'0')
	}
	return n
}

// parse: (text: string) -> (number, number): the moment and its offset from UTC, in seconds
func parse(c *luau.Call) error {
	text, err := c.Text(0)
	if err != nil {
		return err
	}
	t, offset, problem := parseRFC3339(text)
	if problem != "" {
		return formatError(c, text, "an RFC 3339 time such as 2006-01-02T15:04:05Z: "+problem)
	}
	return c.Return(hostmod.Seconds(t), float64(offset))
}

// formatError is about a text that cannot be read.
func formatError(c *luau.Call, text, wanted string) error {
	const most = 60
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..." // the cut may be within a character
	}
	return &luau.Error{Code: "format", Message: fmt.Sprintf("%s: %q is not %s", c.Name(), text, wanted)}
}

// parseRFC3339 reads what section 5.6 of the RFC allows, and nothing else: package time is more
// generous in some places and knows no leap seconds.
func parseRFC3339(s string) (t time.Time, offset int, problem string) {
	const head = "0000-00-00T00:00:00"
	if len(s) <= len(head) {
		return t, 0, "it is too short"
	}
	clock := strings.Replace(strings.ToUpper(s[:len(head)]), " ", "T", 1)
	if !shaped(clock, head) {
		return t, 0, "date and time are not of this form"
	}
	rest := s[len(head):]
	nanoseconds := 0
	if rest[0] == '.' {
		n := 1
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n == 1 {
			return t, 0, "no digits follow the point"
		}
		nanoseconds = digits((rest[1:min(n, 10)] + "000000000")[:9])
		rest = rest[n:]
	}
	offset, ok := parseOffset(rest)
	if !ok {
		return t, 0, `it must end with "Z" or an offset such as "+02:00"`
	}
	t, problem = date(civil{
		Year: digits(clock[0:4]), Month: digits(clock[5:7]), Day: digits(clock[8:10]),
		Hour: digits(clock[11:13]), Minute: digits(clock[14:16]), Second: digits(clock[17:19]),
	}, zone(offset))
	return t.Add(time.Duration(nanoseconds)), offset, problem
}

// format: (moment: number, offset: (number | string)?, digits: number?) -> string
func format(c *luau.Call) error {
	t, err := momentArgument(c, 0)
	if err != nil {
		return err
	}
	location, err := zoneArgument(c, 1)
	if err != nil {
		return err
	}
	places, err := c.IntOpt(2, -1)
	if err != nil {
		return err
	}
	layout := "2006-01-02T15:04:05.999999Z07:00"
	switch {
	case places > 9 || places < -1:
		return c.Argument(2, "must be a number of digits from 0 to 9")
	case places == 0:
		layout = time.RFC3339
	case places > 0:
		layout = "2006-01-02T15:04:05." + strings.Repeat("0", places) + "Z07:00"
	case places < 0:
		// More would be digits that the number does not have.
		t = t.Round(time.Microsecond)
	}
	local := t.In(location)
	if year := local.Year(); year < 0 || year > 9999 {
		return c.Argument(0, fmt.Sprintf("is in the year %d with this offset; RFC 3339 ends at 9999", year))
	}
	return c.ReturnString(local.Format(layout))
}
