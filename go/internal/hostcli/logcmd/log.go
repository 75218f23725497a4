// Package logcmd is `luau log`: it shows what tools did, from the execution log.
package logcmd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/program"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostflags"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// Command makes the command.
func Command() *cobra.Command {
	var flags hostflags.Flags
	var wanted filterFlags
	var follow bool
	cmd := &cobra.Command{
		Use: "log", Short: "Show what tools did", Args: idOrVerb,
		Long: `Shows the calls of tools that ended, of all programs that use this project, the newest last. Each line has the begin,
the id, how it ended, how long it took, the tool, who called, and the error or the arguments.
"luau log show ID" shows one call whole, and so does "luau log ID".`,
		Example: `  luau log --since 1h --status error
  luau log --tool weather --follow
  luau log --json --limit 1000 | jq .duration`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return showOne(cmd, &flags, args[0])
			}
			filter, err := wanted.filter(time.Now())
			if err != nil {
				return err
			}
			if follow && !filter.Until.IsZero() {
				return exit.Usagef("--follow shows calls to come: it does not go with --until")
			}
			project, err := hostapp.Locate(flags.Options(cmd, "warn"))
			if err != nil {
				return err
			}
			p := newPrinter(cmd)
			if follow {
				return followAll(cmd, project, filter, wanted.limit, p)
			}
			return inStore(cmd, project, func(s *store.Store) error {
				list, err := newest(cmd.Context(), s.Log, filter, wanted.limit)
				if err == nil && len(list) == 0 {
					err = noMatch(cmd, s.Log, filter)
				}
				if err != nil {
					return err
				}
				return p.all(cmd.Context(), s.Log, list)
			})
		},
	}
	flags.AddState(cmd)
	wanted.add(cmd)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what comes, until interrupted")
	cmd.Flags().Bool(program.JSONFlag, false, "each call whole, as one JSON object a line")
	cmd.AddCommand(showCommand())
	return cmd
}

var (
	idPattern = regexp.MustCompile(`^[0-9a-f][0-9a-f-]{3,35}$`)
	digit     = regexp.MustCompile(`[0-9]`)
)

// idOrVerb takes one argument that looks like an id, and no other: that is meant as the name of a command.
func idOrVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || !idPattern.MatchString(args[0]) || !digit.MatchString(args[0]) {
		return exit.Verb(cmd, args)
	}
	if len(args) > 1 {
		return exit.Usagef("%s shows one call; got %q as well", cmd.CommandPath(), args[1])
	}
	var other error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != program.JSONFlag && f.Name != "config" {
			other = exit.Usagef("--%s chooses among calls, and %s is one", f.Name, args[0])
		}
	})
	return other
}

// noMatch says that a filter chose nothing, and which tool may be meant.
func noMatch(cmd *cobra.Command, log *store.Log, f store.Filter) error {
	text := "no call matches"
	if f.Tool != "" {
		names, err := log.Tools(cmd.Context())
		if err != nil {
			return err
		}
		switch near := spelling.Nearest(f.Tool, names); {
		case slices.Contains(names, f.Tool):
		case near != "":
			text += fmt.Sprintf(": the log has no tool %s; did you mean %s?", visible.Line(f.Tool), visible.Line(near))
		default:
			text += fmt.Sprintf(": the log has no tool %s", visible.Line(f.Tool))
		}
	}
	_, err := fmt.Fprintln(cmd.ErrOrStderr(), text)
	return err
}

// inStore does something with the project's store. Where there is none it says so, but not among lines of JSON.
func inStore(cmd *cobra.Command, project *hostapp.Project, do func(*store.Store) error) error {
	s, err := project.OpenStore(cmd.Context())
	if errors.Is(err, hostapp.ErrNothingRan) {
		_, err = fmt.Fprintln(cmd.ErrOrStderr(), hostapp.ErrNothingRan)
		return err
	}
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

// newest are the newest entries that a filter chooses, the oldest of them first.
func newest(ctx context.Context, log *store.Log, f store.Filter, limit int) ([]store.Entry, error) {
	var list []store.Entry
	for len(list) < limit {
		f.Limit = min(limit-len(list), 1000)
		more, err := log.List(ctx, f)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
		if len(more) < f.Limit {
			break
		}
		f.Before = more[len(more)-1].ID
	}
	slices.Reverse(list)
	return list, nil
}

// lookEvery is how often a store that is not there yet is looked for.
const lookEvery = 250 * time.Millisecond

// followAll shows the newest entries and then each that comes, until the command is interrupted: that is how it ends.
func followAll(cmd *cobra.Command, project *hostapp.Project, f store.Filter, limit int, p *printer) error {
	ctx := cmd.Context()
	err := func() error {
		s, err := awaitStore(cmd, project)
		if err != nil {
			return err
		}
		return errors.Join(followIn(ctx, s.Log, f, limit, p), s.Close())
	}()
	if errors.Is(context.Cause(ctx), exit.ErrInterrupted) {
		return nil
	}
	return err
}

func awaitStore(cmd *cobra.Command, project *hostapp.Project) (*store.Store, error) {
	ctx := cmd.Context()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for told := false; ; told = true {
		s, err := project.OpenStore(ctx)
		if !errors.Is(err, hostapp.ErrNothingRan) {
			return s, err
		}
		if !told {
			fmt.Fprintln(cmd.ErrOrStderr(), "nothing has run yet; waiting")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func followIn(ctx context.Context, log *store.Log, f store.Filter, limit int, p *printer) error {
	seq, err := log.LastSeq(ctx)
	if err != nil {
		return err
	}
	list, err := newest(ctx, log, f, limit)
	if err != nil {
		return err
	}
	if err := p.all(ctx, log, list); err != nil {
		return err
	}
	shown := map[string]bool{} // written between the two questions
	for _, e := range list {
		if e.Seq > seq {
			shown[e.ID] = true
		}
	}
	f.Limit = 0
	return log.Follow(ctx, seq, f, func(e store.Entry) error {
		if shown[e.ID] {
			return nil
		}
		return p.all(ctx, log, []store.Entry{e})
	})
}
