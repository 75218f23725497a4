// Package permit has the flags that say what a script may reach, the same for every verb that runs
// scripts.
package permit

import (
	"github.com/spf13/pflag"

	"github.com/hukilau/hukilau/go/internal/app"
)

// everything is what a flag without a list stands for.
const everything = "*"

// Flags are the flags of one command. The zero value is ready for Register.
type Flags struct {
	sandbox     bool
	allow, deny lists
}

type lists struct{ net, netPrivate, env, read, write []string }

// Register adds the flags to a command's.
func (f *Flags) Register(p *pflag.FlagSet) {
	p.BoolVar(&f.sandbox, "sandbox", false, "start without any permission; --allow-* give some")
	list(p, &f.allow.net, "allow-net", "with --sandbox: public `hosts` that the script may reach, as a,b; all when none is named")
	list(p, &f.allow.netPrivate, "allow-net-private", "with --sandbox: private `hosts`, addresses or ranges that it may reach")
	list(p, &f.allow.env, "allow-env", "with --sandbox: environment variables, by `names`, that it may read")
	list(p, &f.allow.read, "allow-read", "with --sandbox: `folders` that it may read")
	list(p, &f.allow.write, "allow-write", "with --sandbox: `folders` that it may write")
	list(p, &f.deny.net, "deny-net", "`hosts`, addresses or ranges that the script may not reach")
	list(p, &f.deny.env, "deny-env", "environment variables, by `names`, that it may not read")
	list(p, &f.deny.read, "deny-read", "`folders` that it may not read")
	list(p, &f.deny.write, "deny-write", "`folders` that it may not write")
}

func list(p *pflag.FlagSet, to *[]string, name, usage string) {
	p.StringSliceVar(to, name, nil, usage)
	p.Lookup(name).NoOptDefVal = everything
}

// Permissions is what the flags say.
func (f *Flags) Permissions() app.Permissions {
	given := app.Permissions{
		DenyNet: f.deny.net, DenyEnv: f.deny.env, DenyRead: f.deny.read, DenyWrite: f.deny.write,
	}
	if !f.sandbox {
		given.All = true
		return given
	}
	given.Net, given.NetPrivate, given.Env = f.allow.net, f.allow.netPrivate, f.allow.env
	given.Read, given.Write = f.allow.read, f.allow.write
	return given
}

// Unused names an --allow flag that has no effect because there is no --sandbox; "" when there is none.
func (f *Flags) Unused(p *pflag.FlagSet) string {
	if f.sandbox {
		return ""
	}
	for _, name := range []string{"allow-net", "allow-net-private", "allow-env", "allow-read", "allow-write"} {
		if p.Changed(name) {
			return "--" + name
		}
	}
	return ""
}
