package schema

import "testing"

func BenchmarkValidate(b *testing.B) {
	for name, c := range map[string][2]string{
		"echo":   {`{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`, `{"message":"hello"}`},
		"ticket": {ticket, `{"title":"a","body":"b","count":3,"tags":["x","y"],"level":"low","who":{"name":"me"}}`},
		"anyOf":  {ticket, `{"title":"a","body":"b","any":{"id":1}}`},
		"wrong":  {ticket, `{"title":5,"body":"b"}`},
	} {
		s, v := compiled(b, c[0]), tree(b, c[1])
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Validate(v)
			}
		})
		b.Run(name+"/library", func(b *testing.B) {
			for b.Loop() {
				_ = s.graph.root.Validate(v)
			}
		})
	}
}

func BenchmarkDefaults(b *testing.B) {
	s := compiled(b, `{"properties":{"a":{"type":"string"},"limit":{"default":12},"mode":{"default":"keyword"}}}`)
	v := tree(b, `{"a":"x"}`)
	b.ReportAllocs()
	for b.Loop() {
		s.Defaults(v)
	}
}
