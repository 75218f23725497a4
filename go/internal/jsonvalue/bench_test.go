package jsonvalue

import (
	"encoding/json"
	"strings"
	"testing"
)

var bodies = map[string]string{
	"call":  `{"message":"hello there, world"}`,
	"small": `{"message":"hello there, world","count":3,"tags":["a","b","c"],"nested":{"x":1.5,"y":null,"ok":true}}`,
	"large": `[` + strings.Repeat(`{"id":12345,"name":"a name\nof two lines","price":12.75,"tags":["x","y"]},`, 999) + `null]`,
}

func BenchmarkDecode(b *testing.B) {
	for name, body := range bodies {
		data := []byte(body)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := Decode(data, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				var v any
				if err := json.Unmarshal(data, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for name, body := range bodies {
		v, err := Decode([]byte(body), Options{})
		if err != nil {
			b.Fatal(err)
		}
		var out []byte
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if out, err = Append(out[:0], v); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := json.Marshal(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
