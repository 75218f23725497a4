package gateway

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// verdict is what the policy says of a function before its arguments are known.
type verdict struct {
	rules []config.Rule // that may decide, in their order
	rate  tooldef.Rate
}

// judge finds the rules that are about a function.
func judge(policy []config.Rule, c *catalog.Callable) verdict {
	var v verdict
	for _, rule := range policy {
		if !isAbout(&rule, c) {
			continue
		}
		if rule.Rate.Count > 0 && v.rate.Calls == 0 {
			v.rate = tooldef.Rate{Calls: rule.Rate.Count, Per: rule.Rate.Per}
		}
		if rule.Action == "" {
			continue // it bounds the rate alone
		}
		v.rules = append(v.rules, rule)
		if len(rule.Args) == 0 {
			break // it decides whatever the arguments are
		}
	}
	return v
}

// isAbout says whether a rule is about a function, by any of its names.
func isAbout(rule *config.Rule, c *catalog.Callable) bool {
	return matches(rule.Match, c) && hinted(rule.Annotation, &c.Hints)
}

func matches(patterns []config.Pattern, c *catalog.Callable) bool {
	if len(patterns) == 0 {
		return true
	}
	names := []string{c.Scope.Name + "." + c.Name, c.Scope.Ident + "." + c.Ident}
	for _, p := range patterns {
		for _, name := range names {
			if p.Matches(name) {
				return true
			}
		}
	}
	return false
}

// hinted says whether a function says of itself what a rule asks for. What it does not say counts as the protocol
// has it: it may change and destroy things, and reach the open world.
func hinted(annotation config.Annotation, h *catalog.Hints) bool {
	readOnly := h.ReadOnly != nil && *h.ReadOnly
	switch annotation {
	case config.Destructive:
		return !readOnly && (h.Destructive == nil || *h.Destructive)
	case config.ReadOnly:
		return readOnly
	case config.NotReadOnly:
		return !readOnly
	case config.OpenWorld:
		return h.OpenWorld == nil || *h.OpenWorld
	}
	return true
}

// denied says whether no call can be allowed, whatever its arguments are.
func (v *verdict) denied() bool {
	for _, rule := range v.rules {
		if rule.Action != config.Deny {
			return false
		}
		if len(rule.Args) == 0 {
			return true
		}
	}
	return false
}

// guard decides about one call; nil where the policy says nothing. params are the schema of its arguments, which may
// have defaults; it may be nil.
func (v *verdict) guard(c *catalog.Callable, params *schema.Schema) func(args any) (approve bool, why string, err error) {
	if len(v.rules) == 0 {
		return nil
	}
	return func(args any) (approve bool, why string, err error) {
		completed := args
		if params != nil {
			completed = params.Defaults(args)
		}
		for i := range v.rules {
			rule := &v.rules[i]
			if !fits(rule, args, completed, c) {
				continue
			}
			switch rule.Action {
			case config.Deny:
				return false, "", denied(rule, c)
			case config.Approve:
				return true, rule.Reason, nil
			}
			return false, "", nil
		}
		return false, "", nil
	}
}

func denied(rule *config.Rule, c *catalog.Callable) error {
	message := fmt.Sprintf("the operator does not allow %s.%s", c.Scope.Name, c.Name)
	if len(rule.Args) > 0 {
		message += " with these arguments"
	}
	if rule.Reason != "" {
		message += ": " + rule.Reason
	}
	if rule.Line > 0 {
		message += fmt.Sprintf(" ([[gateway.policy]] in line %d)", rule.Line)
	}
	return &toolhost.Error{Code: toolhost.Permission, Message: message, Detail: "policy"}
}

// fits says whether the arguments are as the conditions of a rule want them. What allows a call is read strictly: the
// argument is given, wherever it can stand, and is what the rule says. What keeps a call back is read widely, as whoever
// writes the call may try to get round it: an argument that is left out counts as its default, one in any place is
// enough, and so is one that the other side may take for what the rule says. completed are the arguments with defaults.
func fits(rule *config.Rule, args, completed any, c *catalog.Callable) bool {
	for pointer, condition := range rule.Args {
		if rule.Action == config.Allow {
			values := argumentsAt(args, pointer, c)
			if len(values) == 0 || !each(values, condition.Holds) {
				return false
			}
			continue
		}
		values := argumentsAt(completed, pointer, c)
		if len(values) == 0 && isRaw(args, c) {
			continue // nobody knows what a body says that is sent as it is
		}
		if !slices.ContainsFunc(values, condition.MayHold) {
			return false
		}
	}
	return true
}

func each(values []any, holds func(any) bool) bool {
	return !slices.ContainsFunc(values, func(v any) bool { return !holds(v) })
}

// isRaw says whether the arguments have a body that is sent as it is.
func isRaw(args any, c *catalog.Callable) bool {
	table, _ := args.(map[string]any)
	_, raw := table[rawKey]
	return raw && c.Scope.Kind == catalog.OpenAPI
}

// argumentsAt are what a pointer leads to: in the arguments of a tool; in the parameters and in the body of an
// operation, whose names may be the same.
func argumentsAt(args any, pointer string, c *catalog.Callable) (values []any) {
	places := []string{""}
	if c.Scope.Kind == catalog.OpenAPI {
		places = []string{"/" + paramsKey, "/" + bodyKey}
	}
	for _, place := range places {
		if value, there := at(args, place+pointer); there {
			values = append(values, value)
		}
	}
	return values
}

var unescaped = strings.NewReplacer("~1", "/", "~0", "~")

// at follows a JSON pointer.
func at(tree any, pointer string) (any, bool) {
	for _, part := range strings.Split(pointer, "/")[1:] {
		switch v := tree.(type) {
		case map[string]any:
			inner, there := v[unescaped.Replace(part)]
			if !there {
				return nil, false
			}
			tree = inner
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			tree = v[i]
		default:
			return nil, false
		}
	}
	return tree, true
}
