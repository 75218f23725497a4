package timemod

import (
	"fmt"
	"math"
	"time"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// civil is a moment as calendars and clocks show it.
type civil struct {
	Year     int     `luau:"year"`
	Month    int     `luau:"month"`
	Day      int     `luau:"day"`
	Hour     int     `luau:"hour"`
	Minute   int     `luau:"minute"`
	Second   int     `luau:"second"`
	Fraction float64 `luau:"fraction"`
}

// date checks every field: package time would count on into the next month instead. A second 60 is
// a leap second and only at the end of a UTC day; it is the same moment as the next second.
func date(f civil, location *time.Location) (time.Time, string) {
	for _, rule := range []struct {
		name            string
		value, from, to int
	}{
		{"year", f.Year, 0, 9999}, {"month", f.Month, 1, 12}, {"day", f.Day, 1, 31},
		{"hour", f.Hour, 0, 23}, {"minute", f.Minute, 0, 59}, {"second", f.Second, 0, 60},
	} {
		if rule.value < rule.from || rule.value > rule.to {
			return time.Time{}, fmt.Sprintf("%s %d is not in the range %d to %d", rule.name, rule.value, rule.from, rule.to)
		}
	}
	if last := daysIn(f.Year, f.Month); f.Day > last {
		return time.Time{}, fmt.Sprintf("month %d of %d has %d days", f.Month, f.Year, last)
	}
	t := time.Date(f.Year, time.Month(f.Month), f.Day, f.Hour, f.Minute, f.Second, 0, location)
	if f.Second == 60 && t.Unix()%86400 != 0 {
		return time.Time{}, "second 60 is only for a leap second, at the end of a day in UTC"
	}
	return t, ""
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// fields: (moment: number, offset: (number | string)?) -> Fields
func fields(c *luau.Call) error {
	t, err := momentArgument(c, 0)
	if err != nil {
		return err
	}
	location, err := zoneArgument(c, 1)
	if err != nil {
		return err
	}
	t = t.In(location)
	_, offset := t.Zone()
	weekday := int(t.Weekday())
	if weekday == 0 {
		weekday = 7
	}
	return c.Return(map[string]any{
		"year": t.Year(), "month": int(t.Month()), "day": t.Day(),
		"hour": t.Hour(), "minute": t.Minute(), "second": t.Second(), "fraction": float64(t.Nanosecond()) / 1e9,
		"weekday": weekday, "yearday": t.YearDay(), "offset": offset,
	})
}

// fieldNames are what fields gives and makeMoment takes; of these the last three say nothing new.
var fieldNames = []string{"year", "month", "day", "hour", "minute", "second", "fraction", "weekday", "yearday", "offset"}

// makeMoment: (fields: Fields, offset: (number | string)?) -> number
func makeMoment(c *luau.Call) error {
	if _, err := hostmod.Options(c, 0, fieldNames...); err != nil {
		return err
	}
	f := civil{Year: math.MinInt, Month: 1, Day: 1}
	if err := c.Bind(0, &f); err != nil {
		return err
	}
	if f.Year == math.MinInt {
		return c.Argument(0, ": .year must be a whole number, got nil")
	}
	location, err := zoneArgument(c, 1)
	if err != nil {
		return err
	}
	t, problem := date(f, location)
	if problem == "" && !(f.Fraction >= 0 && f.Fraction < 1) {
		problem = "fraction must be at least 0 and less than 1"
	}
	if problem != "" {
		return c.Argument(0, ": "+problem)
	}
	return c.ReturnNumber(float64(t.Unix()) + f.Fraction)
}

// step is what add moves a moment by.
type step struct {
	Years   int     `luau:"years"`
	Months  int     `luau:"months"`
	Weeks   int     `luau:"weeks"`
	Days    int     `luau:"days"`
	Hours   float64 `luau:"hours"`
	Minutes float64 `luau:"minutes"`
	Seconds float64 `luau:"seconds"`
}

// add: (moment: number, step: Step, offset: (number | string)?) -> number
func add(c *luau.Call) error {
	seconds, err := c.Number(0)
	if err != nil {
		return err
	}
	t, err := momentArgument(c, 0)
	if err != nil {
		return err
	}
	if _, err := hostmod.Options(c, 1, "years", "months", "weeks", "days", "hours", "minutes", "seconds"); err != nil {
		return err
	}
	var s step
	if err := c.Bind(1, &s); err != nil {
		return err
	}
	location, err := zoneArgument(c, 2)
	if err != nil {
		return err
	}
	const far = 400 * 10_000 // more than the days between any two moments
	for _, n := range []int{s.Years, s.Months, s.Weeks, s.Days} {
		if n < -far || n > far {
			return c.Argument(1, ": the step leads out of the years 0 to 9999")
		}
	}
	moved := addMonths(t.In(location), 12*s.Years+s.Months).AddDate(0, 0, 7*s.Weeks+s.Days)
	// The difference is added, so that the fraction stays as it was.
	sum := seconds + float64(moved.Unix()-t.Unix()) + s.Hours*3600 + s.Minutes*60 + s.Seconds
	if _, ok := moment(sum); !ok {
		return c.Argument(1, ": the step leads out of the years 0 to 9999")
	}
	return c.ReturnNumber(sum)
}

// addMonths keeps the day where the month has it, else takes the month's last day.
func addMonths(t time.Time, months int) time.Time {
	if months == 0 {
		return t
	}
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	day := min(t.Day(), daysIn(first.Year(), int(first.Month())))
	return first.AddDate(0, 0, day-1)
}
