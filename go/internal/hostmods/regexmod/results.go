package regexmod

import (
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// first finds one match from the place in argument 2 on and answers with what f makes of it.
func (i *instance) first(c *luau.Call, f func(*search, []int) []any) error {
	from, err := c.IntOpt(2, 1)
	if err != nil {
		return err
	}
	return i.search(c, func(s *search, room *hostmod.Room) ([]any, error) {
		at := start(from, len(s.subject))
		if at < 0 {
			return []any{nil}, nil
		}
		match, err := s.next(at)
		if err != nil || match == nil {
			return []any{nil}, err
		}
		if err := room.Take(s.footprint(match)); err != nil {
			return nil, err
		}
		return f(s, match), nil
	})
}

// find: (pattern: string, subject: string | buffer, init: number?) -> (number?, number?)
func (i *instance) find(c *luau.Call) error {
	return i.first(c, func(_ *search, match []int) []any { return []any{match[0] + 1, match[1]} })
}

// match: (pattern: string, subject: string | buffer, init: number?) -> Match?
func (i *instance) match(c *luau.Call) error {
	return i.first(c, func(s *search, match []int) []any { return []any{s.table(match)} })
}

// table is a match as scripts see it. A group that took no part is false: nil would leave a hole.
func (s *search) table(match []int) map[string]any {
	captures := make([]any, 0, len(match)/2-1)
	named := map[string]any{}
	for n := 1; n < len(match)/2; n++ {
		if match[2*n] < 0 {
			captures = append(captures, false)
			continue
		}
		text := string(s.subject[match[2*n]:match[2*n+1]])
		captures = append(captures, text)
		if name := s.pattern.names[n]; name != "" {
			named[name] = text
		}
	}
	return map[string]any{
		"start": match[0] + 1, "finish": match[1], "text": string(s.subject[match[0]:match[1]]),
		"captures": captures, "named": named,
	}
}

// footprint is about what the table of a match takes, here and on its way to the script.
func (s *search) footprint(match []int) int64 {
	n := int64(600)
	for g := 0; g < len(match); g += 2 {
		n += 100 + 3*int64(match[g+1]-match[g])
	}
	return n
}

// findAll: (pattern: string, subject: string | buffer, limit: number?) -> {Match}
func (i *instance) findAll(c *luau.Call) error {
	most, err := limit(c, 2)
	if err != nil {
		return err
	}
	return i.search(c, func(s *search, room *hostmod.Room) ([]any, error) {
		list := []any{}
		err := s.each(most, func(match []int) error {
			list = append(list, s.table(match))
			return room.Take(s.footprint(match))
		})
		return []any{list}, err
	})
}

// replace: (pattern: string, subject: string | buffer, replacement: string, limit: number?) -> (string, number)
func (i *instance) replace(c *luau.Call) error {
	replacement, err := c.Text(2)
	if err != nil {
		return err
	}
	most, err := limit(c, 3)
	if err != nil {
		return err
	}
	return i.search(c, func(s *search, room *hostmod.Room) ([]any, error) {
		t, err := s.pattern.parseTemplate(replacement)
		if err != nil {
			return nil, err
		}
		var out []byte
		done, count := 0, 0
		err = s.each(most, func(match []int) error {
			// Slices grow by doubling, and the text is copied once on its way to the script.
			if err := room.Take(3 * (int64(match[0]-done) + t.size(match))); err != nil {
				return err
			}
			out = append(out, s.subject[done:match[0]]...)
			out = t.expand(out, s.subject, match)
			done = match[1]
			count++
			return nil
		})
		if err == nil {
			err = room.Take(3 * int64(len(s.subject)-done))
		}
		if err != nil {
			return nil, err
		}
		return []any{string(append(out, s.subject[done:]...)), count}, nil
	})
}

// split: (pattern: string, subject: string | buffer, limit: number?) -> {string}
func (i *instance) split(c *luau.Call) error {
	most, err := limit(c, 2)
	if err != nil {
		return err
	}
	return i.search(c, func(s *search, room *hostmod.Room) ([]any, error) {
		pieces, from := []any{}, 0
		add := func(end int) error {
			pieces = append(pieces, string(s.subject[from:end]))
			return room.Take(100 + 3*int64(end-from))
		}
		err := s.each(most, func(match []int) error {
			// An empty match at either end parts nothing.
			if match[1] == 0 || match[0] == len(s.subject) && match[0] == match[1] {
				return nil
			}
			err := add(match[0])
			from = match[1]
			return err
		})
		if err == nil {
			err = add(len(s.subject))
		}
		return []any{pieces}, err
	})
}
