package runflags

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
)

// everything is what a flag without a list stands for.
const everything = "*"

const allowing = "allow-"

func (f *Flags) registerPermissions(p *pflag.FlagSet) {
	p.BoolVar(&f.sandbox, "sandbox", false, "start without any permission; --allow-* give some")
	list(p, &f.Grants.Net, allowing+"net", "with --sandbox: public `hosts` that scripts may reach, as a,b; all when none is named")
	list(p, &f.Grants.NetPrivate, allowing+"net-private", "with --sandbox: private `hosts`, addresses or ranges that they may reach")
	list(p, &f.Grants.Env, allowing+"env", "with --sandbox: environment variables, by `names`, that they may read")
	list(p, &f.Grants.Read, allowing+"read", "with --sandbox: `folders` that they may read")
	list(p, &f.Grants.Write, allowing+"write", "with --sandbox: `folders` that they may write")
	list(p, &f.Grants.DenyNet, "deny-net", "`hosts`, addresses or ranges that scripts may not reach")
	list(p, &f.Grants.DenyEnv, "deny-env", "environment variables, by `names`, that they may not read")
	list(p, &f.Grants.DenyRead, "deny-read", "`folders` that they may not read")
	list(p, &f.Grants.DenyWrite, "deny-write", "`folders` that they may not write")
}

func list(p *pflag.FlagSet, to *[]string, name, usage string) {
	p.StringSliceVar(to, name, nil, usage)
	p.Lookup(name).NoOptDefVal = everything
}

// ListHint is for a script that cannot be read: its name may be meant for a flag before it, which takes a list
// behind a = only. It is empty when there is no such flag.
func (f *Flags) ListHint(cmd *cobra.Command, script string) (hint string) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.NoOptDefVal == everything && flag.Value.String() == "["+everything+"]" {
			hint = fmt.Sprintf("if %s is meant for --%s, write --%[2]s=%[1]s", script, flag.Name)
		}
	})
	return hint
}

// checkPermissions decides what is granted.
func (f *Flags) checkPermissions(p *pflag.FlagSet) (err error) {
	f.Grants.All = !f.sandbox
	p.Visit(func(flag *pflag.Flag) {
		if !f.sandbox && strings.HasPrefix(flag.Name, allowing) {
			err = exit.Usagef("--%s without --sandbox has no effect: without it everything is allowed", flag.Name)
		}
	})
	return err
}
