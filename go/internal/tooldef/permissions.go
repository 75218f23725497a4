package tooldef

// Permissions are what the script of a tool may reach. A list that is nil says nothing, which grants nothing.
type Permissions struct {
	Net        []string // hosts at public addresses
	NetPrivate []string // hosts and CIDRs at private, loopback and link-local addresses
	Env        []string // names of environment variables
	Read       []string // directories, from the config's folder
	Write      []string
	Models     []string // names of models
	Tools      []string // names of tools that it may call
	Servers    []string // names of upstream servers
}

// permissionLists are the lists by their keys in files.
var permissionLists = []struct {
	key string
	of  func(*Permissions) *[]string
}{
	{"net", func(p *Permissions) *[]string { return &p.Net }},
	{"net_private", func(p *Permissions) *[]string { return &p.NetPrivate }},
	{"env", func(p *Permissions) *[]string { return &p.Env }},
	{"read", func(p *Permissions) *[]string { return &p.Read }},
	{"write", func(p *Permissions) *[]string { return &p.Write }},
	{"models", func(p *Permissions) *[]string { return &p.Models }},
	{"tools", func(p *Permissions) *[]string { return &p.Tools }},
	{"servers", func(p *Permissions) *[]string { return &p.Servers }},
}

// List is what stands under a key of a file, such as "net_private".
func (p *Permissions) List(key string) []string {
	for _, list := range permissionLists {
		if list.key == key {
			return *list.of(p)
		}
	}
	return nil
}

// EachList calls do with the lists of p and, of the same key, those of other.
func (p *Permissions) EachList(other *Permissions, do func(mine *[]string, its []string)) {
	for _, list := range permissionLists {
		do(list.of(p), *list.of(other))
	}
}
