package timemod_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/timemod"
	"github.com/hukilau/hukilau/go/internal/modtest"
)

// The examples of RFC 3339, section 5.8, and the moments that it says they are.
func TestParseKnownAnswers(t *testing.T) {
	vm := modtest.New(t, timemod.Module{}, timemod.Stub)
	for text, want := range map[string][2]float64{
		"1985-04-12T23:20:50.52Z":           {482196050.52, 0},
		"1996-12-19T16:39:57-08:00":         {851042397, -28800},
		"1990-12-31T23:59:60Z":              {662688000, 0},
		"1990-12-31T15:59:60-08:00":         {662688000, -28800},
		"1937-01-01T12:00:27.87+00:20":      {-1041337172.13, 1200},
		"1970-01-01t00:00:00z":              {0, 0},
		"1970-01-01 00:00:00-00:00":         {0, 0},
		"2000-02-29T00:00:00Z":              {951782400, 0},
		"0000-01-01T00:00:00Z":              {-62167219200, 0},
		"9999-12-31T23:59:59Z":              {253402300799, 0},
		"1970-01-01T00:00:01.123456789123Z": {1.123456789, 0},
	} {
		out := vm.Run(t, fmt.Sprintf("return __native.time.parse(%q)", text))
		require.InDelta(t, want[0], out[0], 1e-6, text)
		require.Equal(t, want[1], out[1], text)
	}
}

func TestParseRefuses(t *testing.T) {
	vm := modtest.New(t, timemod.Module{}, timemod.Stub)
	for text, want := range map[string]string{
		"":                             "it is too short",
		"2024-01-01":                   "it is too short",
		"2024-01-01T00:00:00":          "it is too short",
		"2024-01-01T1:00:00Z.........": "not of this form",
		"2024-01-01T00:00:00,5Z":       `it must end with "Z"`,
		"2024-01-01T00:00:00.Z":        "no digits follow the point",
		"2024-01-01T00:00:00+0200":     `it must end with "Z"`,
		"2024-01-01T00:00:00+24:00":    `it must end with "Z"`,
		"2024-01-01T00:00:00Z ":        `it must end with "Z"`,
		"2023-02-29T00:00:00Z":         "month 2 of 2023 has 28 days",
		"2024-13-01T00:00:00Z":         "month 13 is not in the range 1 to 12",
		"2024-01-01T24:00:00Z":         "hour 24 is not in the range 0 to 23",
		"2024-01-01T00:00:60Z":         "only for a leap second",
		"2024-01-01T00:00:61Z":         "second 61 is not",
		"2024-01-01T00:00:00Z\x00":     `it must end with "Z"`,
	} {
		require.NoError(t, vm.State.SetGlobal("text", text))
		out := vm.Run(t, "return pcall(__native.time.parse, text)")
		e, failed := out[1].(map[string]any)
		require.True(t, failed, text)
		require.Equal(t, "format", e["code"])
		require.Contains(t, e["message"], want, text)
		require.Contains(t, e["message"], "time.parse: ")
	}
}

func TestFormat(t *testing.T) {
	vm := modtest.New(t, timemod.Module{}, timemod.Stub)
	for source, want := range map[string]any{
		`format(0)`:                      "1970-01-01T00:00:00Z",
		`format(851042397, "-08:00")`:    "1996-12-19T16:39:57-08:00",
		`format(851042397, 19800)`:       "1996-12-20T06:09:57+05:30",
		`format(1.5)`:                    "1970-01-01T00:00:01.5Z",
		`format(1700000000.1)`:           "2023-11-14T22:13:20.1Z",
		`format(-0.25)`:                  "1969-12-31T23:59:59.75Z",
		`format(1.5, nil, 0)`:            "1970-01-01T00:00:01Z",
		`format(1.5, "Z", 3)`:            "1970-01-01T00:00:01.500Z",
		`format(0, "+2:00")`:             `time.format: argument 2 must be an offset such as "Z", "+02:00" or a number of seconds, got "+2:00"`,
		`format(0, 90)`:                  "time.format: argument 2 must be an offset of whole minutes, less than a day, in seconds",
		`format(0, 0, 10)`:               "time.format: argument 3 must be a number of digits from 0 to 9",
		`format(0/0)`:                    "time.format: argument 1 must be seconds of a moment in the years 0 to 9999, got nan",
		`format(1e300)`:                  "time.format: argument 1 must be seconds of a moment in the years 0 to 9999, got 1e+300",
		`format(253402300799, "+01:00")`: "time.format: argument 1 is in the year 10000 with this offset; RFC 3339 ends at 9999",
		`parse_duration("1h30m")`:        5400.0,
		`parse_duration("500ms")`:        0.5,
		`parse_duration("-1.5s")`:        -1.5,
		`parse_duration("1" .. string.rep("é", 40))`: `time.parse_duration: "1` + strings.Repeat("\u00e9", 29) +
			`..." is not a duration such as 1h30m, 1.5s or 500ms (units: h, m, s, ms, us, ns)`,
		`parse_duration("90")`:       `time.parse_duration: "90" is not a duration such as 1h30m, 1.5s or 500ms (units: h, m, s, ms, us, ns)`,
		`format_duration(5400)`:      "1h30m",
		`format_duration(3600)`:      "1h",
		`format_duration(3605)`:      "1h0m5s",
		`format_duration(600)`:       "10m",
		`format_duration(0)`:         "0s",
		`format_duration(0.5)`:       "500ms",
		`format_duration(-90)`:       "-1m30s",
		`format_duration(math.huge)`: "time.format_duration: argument 1 must be a number of seconds, at most 292 years",
		`make({year = 1970})`:        0.0,
		`make({year = 1996, month = 12, day = 19, hour = 16, minute = 39, second = 57}, "-08:00")`: 851042397.0,
		`make({year = 1970, fraction = 0.5})`:                                                      0.5,
		`make({month = 2})`:                                                                        "time.make: argument 1: .year must be a whole number, got nil",
		`make({year = 2023, month = 2, day = 29})`:                                                 "time.make: argument 1: month 2 of 2023 has 28 days",
		`make({year = 2023, fraction = 1})`:                                                        "time.make: argument 1: fraction must be at least 0 and less than 1",
		// 31 January and a month is the last of February; a year after a leap day the 28th.
		`format(add(parse("2023-01-31T10:00:00Z"), {months = 1}))`:                                                  "2023-02-28T10:00:00Z",
		`format(add(parse("2024-02-29T10:00:00Z"), {years = 1}))`:                                                   "2025-02-28T10:00:00Z",
		`format(add(parse("2024-03-31T10:00:00Z"), {months = -1}))`:                                                 "2024-02-29T10:00:00Z",
		`format(add(parse("2024-02-28T23:30:00Z"), {weeks = 1, days = 1, hours = 0.5, minutes = 1, seconds = -1}))`: "2024-03-08T00:00:59Z",
		// The day is that of the offset's calendar.
		`format(add(parse("2023-01-31T23:30:00-01:00"), {months = 1}, "-01:00"), "-01:00")`: "2023-02-28T23:30:00-01:00",
		`add(0.1, {days = 0})`: 0.1,
		`add(0, {day = 1})`:    "time.add: argument 2: there is no option day; there are years, months, weeks, days, hours, minutes and seconds",
		`add(0)`:               "time.add: argument 2 must be a table, got no value",
		`make({year = 2023, min = 5})`: "time.make: argument 1: there is no option min; " +
			"there are year, month, day, hour, minute, second, fraction, weekday, yearday and offset",
		`make({year = 1970, day = 2, weekday = 7})`: 86400.0,
		`add(0, {years = 1e9})`:                     "time.add: argument 2: the step leads out of the years 0 to 9999",
		`add(0, {seconds = 1e300})`:                 "time.add: argument 2: the step leads out of the years 0 to 9999",
	} {
		out := vm.Run(t, `local time = __native.time
			local format, make, add, format_duration, parse_duration = time.format, time.make, time.add, time.format_duration, time.parse_duration
			local parse = function(text) return (time.parse(text)) end
			return pcall(function() return `+source+` end)`)
		got := out[1]
		if e, failed := got.(map[string]any); failed {
			got = e["message"]
		}
		require.Equal(t, want, got, source)
	}
}

func TestFields(t *testing.T) {
	vm := modtest.New(t, timemod.Module{}, timemod.Stub)
	out := vm.Run(t, `return __native.time.fields(951782400.5, "-00:30"), __native.time.fields(-1).weekday, __native.time.fields(3 * 86400).weekday`)
	require.Equal(t, map[string]any{
		"year": 2000.0, "month": 2.0, "day": 28.0, "hour": 23.0, "minute": 30.0, "second": 0.0, "fraction": 0.5,
		"weekday": 1.0, "yearday": 59.0, "offset": -1800.0,
	}, out[0])
	require.Equal(t, []any{3.0, 7.0}, out[1:])
}

func TestClocks(t *testing.T) {
	vm := modtest.New(t, timemod.Module{}, timemod.Stub)
	before := float64(time.Now().UnixMicro()) / 1e6
	out := vm.Run(t, `local a = __native.time.monotonic() return __native.time.now(), __native.time.monotonic() >= a, a >= 0`)
	require.GreaterOrEqual(t, out[0], before-1e-3)
	require.LessOrEqual(t, out[0], float64(time.Now().UnixMicro())/1e6+1e-3)
	require.Equal(t, []any{true, true}, out[1:])
}
