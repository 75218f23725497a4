package tooldef

import (
	"path"
	"slices"
)

// needs is what came out of comparing a script with its permissions.
type needs struct {
	used    map[string]bool // entries that cover something
	dynamic map[string]bool // keys of which something is made at run time
	told    map[string]bool
}

// permissions compares what a script reaches with what it is granted.
func (c *checker) permissions() {
	folder := ""
	if c.tool.Dialect == Execute {
		folder = path.Dir(c.script) // its global fs begins there
	}
	uses, more := c.names.uses(folder, c.tool.Config)
	n := needs{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, u := range uses {
		if u.value != "" && !u.perhaps {
			c.need(&n, u)
		}
	}
	for _, u := range uses {
		if u.value == "" || u.perhaps {
			n.dynamic[u.key] = true
		}
		if u.value == "" && !u.perhaps {
			c.needAtRun(&n, u)
		}
	}
	if !more {
		c.unused(n)
	}
}

// need is a use of which everything can be seen.
func (c *checker) need(n *needs, u use) {
	if u.key == "net" && isPrivate(u.value) {
		u.key = "net_private"
	}
	granted := false
	for _, entry := range c.entries(u.key) {
		if c.grants(u.key, entry, u.value) {
			granted, n.used[entry] = true, true
		}
	}
	if id := u.key + " " + u.value; !granted && !n.told[id] {
		n.told[id] = true
		grant := c.granting(u)
		c.add(Warning, c.script, u.line, "%s needs %q, which %s does not grant", u.call, clip(u.value), u.key).Grant = &grant
	}
}

// needAtRun is a use that only a run shows. Entries that nothing else uses are taken to be for it.
func (c *checker) needAtRun(n *needs, u use) {
	entries, possible := c.entries(u.key), 0
	for _, entry := range entries {
		if u.key != "net" || mayBe(entry, u.begin) {
			possible++
			if !n.used[entry] {
				return
			}
		}
	}
	if n.told[u.key] {
		return
	}
	n.told[u.key] = true
	var f *Finding
	switch {
	case len(entries) == 0:
		f = c.add(Warning, c.script, u.line, "%s reaches something that only a run shows, and %s grants nothing: grant what it needs", u.call, u.key)
	case possible == 0:
		f = c.add(Warning, c.script, u.line, "%s reaches something that only a run shows, and %s grants nothing that it could be: grant what it needs", u.call, u.key)
	default:
		f = c.add(Note, c.script, u.line, "%s reaches something that only a run shows, and %s grants what the rest of the script reaches", u.call, u.key)
	}
	f.Grant = &Grant{Key: u.key}
}

// entries are those of a permission that may cover a use.
func (c *checker) entries(key string) []string {
	return slices.Concat(c.tool.Permissions.covering(key), c.known.Granted.covering(key))
}

// granting is the entry that allows a use. Of files it is their directory; one with the configuration in it, with all
// its secrets, is left to a person.
func (c *checker) granting(u use) Grant {
	g := Grant{Key: u.key, Value: u.value}
	if u.key != "read" && u.key != "write" {
		return g
	}
	if u.call != "fs.list" {
		g.Value = path.Dir(u.value)
	}
	g.Value = c.shown(path.Clean(g.Value))
	whole := c.whole(g.Value)
	if g.Outside = !below(c.folder, whole); below(whole, c.folder) {
		g.Value = ""
	}
	return g
}

// unused are permissions that the script shows no use of.
func (c *checker) unused(n needs) {
	for _, list := range permissionLists {
		key := list.key
		if key == "servers" || n.dynamic[key] || key == "net_private" && n.dynamic["net"] {
			continue
		}
		for _, entry := range *list.of(&c.tool.Permissions) {
			if n.used[entry] {
				continue
			}
			if key == "read" || key == "write" {
				entry = c.shown(entry)
			}
			c.add(Warning, c.tool.File, c.tool.Line, "%s grants %q, which the script does not use", key, clip(entry))
		}
	}
}
