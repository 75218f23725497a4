package logcmd

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/internal/units"
)

// filterFlags say which calls are shown.
type filterFlags struct {
	tool, status, caller, text string
	since, until               string
	limit                      int
}

// mostEntries is how many can be listed at once: they are held in memory.
const mostEntries = 10_000

func (f *filterFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.tool, "tool", "", "only calls of the tool with this `name`")
	flags.StringVar(&f.status, "status", "", "only calls that ended so: ok, error (all others) or a `code` as timeout")
	flags.StringVar(&f.caller, "caller", "", "only calls by this `caller`, over every face or, as http:local, over one")
	flags.StringVar(&f.since, "since", "", "only calls that began at this `time` or later: 1h (ago), now, 2026-01-31, or as RFC 3339")
	flags.StringVar(&f.until, "until", "", "only calls that began before this `time`")
	flags.StringVar(&f.text, "text", "", "only calls with this `text` in arguments, result or error")
	flags.IntVar(&f.limit, "limit", 20, "the newest `n` of them")
}

func (f *filterFlags) filter(now time.Time) (store.Filter, error) {
	if f.limit < 1 || f.limit > mostEntries {
		return store.Filter{}, exit.Usagef("--limit must be from 1 to %d", mostEntries)
	}
	filter := store.Filter{Tool: f.tool, Status: f.status, Caller: f.caller, Text: f.text}
	if face, caller, both := strings.Cut(f.caller, ":"); both && slices.Contains(toolhost.Faces(), face) {
		filter.Face, filter.Caller = face, caller
	}
	err := checkStatus(f.status)
	if err != nil {
		return filter, err
	}
	if f.status == store.StatusError {
		filter.Status, filter.Failed = "", true
	}
	if filter.Since, err = moment("--since", f.since, now); err != nil {
		return filter, err
	}
	filter.Until, err = moment("--until", f.until, now)
	return filter, err
}

// checkStatus refuses what no call ends with.
func checkStatus(status string) error {
	known := []string{store.StatusOK, store.StatusError}
	for _, code := range toolhost.Codes() {
		known = append(known, string(code))
	}
	if status == "" || slices.Contains(known, status) {
		return nil
	}
	if near := spelling.Nearest(status, known); near != "" {
		return exit.Usagef("--status %s: no call ends so; did you mean %s?", status, near)
	}
	return exit.Usagef("--status %s: no call ends so; calls end with %s", status, strings.Join(known, ", "))
}

// The ways to write a time. Those without a zone are of this place.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly}

// moment reads a time, or how long ago it was.
func moment(flag, text string, now time.Time) (time.Time, error) {
	switch text {
	case "":
		return time.Time{}, nil
	case "now":
		return now, nil
	}
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, nil
		}
	}
	ago, err := units.ParseDuration(text)
	if err != nil {
		return time.Time{}, exit.Usagef("%s %s: write how long ago, as 90s, 1h or 7d, now, or a time, as 2026-01-31T15:04:05Z", flag, text)
	}
	return now.Add(-ago), nil
}
