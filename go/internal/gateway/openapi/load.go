package openapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// loadModel reads the document of a configuration, or what the cache has of it.
func loadModel(ctx context.Context, config *Config, options Options, redact func(string) string) (*model, error) {
	at, err := placeOf(config.Spec)
	if err != nil {
		return nil, err
	}
	r := &reader{config: config, options: options, redact: redact, left: options.MaxSpec}
	text, found, err := r.read(ctx, at)
	if err != nil {
		return nil, err
	}
	store := &cache{options: options, key: cacheKey(found, r.sums[0].Hash)}
	if m := store.read(ctx, r, found); m != nil {
		return m, nil
	}
	r.left, r.sums = options.MaxSpec-int64(len(text)), r.sums[:1]
	m, err := readModel(ctx, r, found, text)
	if err != nil {
		return nil, err
	}
	store.write(m, r.sums[1:])
	return m, nil
}

func readModel(ctx context.Context, r *reader, at place, text []byte) (*model, error) {
	tree, err := parse(text)
	if err != nil {
		return nil, err
	}
	root, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New("it is no object, so no OpenAPI document")
	}
	main := &document{place: at, root: root}
	l := &library{
		ctx: ctx, reader: r, main: main,
		documents: map[string]*document{at.String(): main}, failures: map[string]error{},
	}
	if err := main.checkVersion(l); err != nil {
		return nil, err
	}
	m, err := build(l)
	if r.left < 0 {
		return nil, r.tooLarge()
	}
	return m, err
}

// checkVersion tells the dialects of OpenAPI from each other, and turns Swagger 2 into 3.0.
func (d *document) checkVersion(l *library) error {
	version := scalarText(d.root["openapi"])
	swagger := scalarText(d.root["swagger"])
	switch {
	case version == "" && (swagger == "2" || strings.HasPrefix(swagger, "2.")):
		d.old = true
		return l.convert(d)
	case version == "" && swagger == "":
		return errors.New("it is no OpenAPI document: it says neither openapi nor swagger at its top")
	case strings.HasPrefix(version, "3.0"):
		d.old = true
		return nil
	case strings.HasPrefix(version, "3."):
		return nil
	}
	return fmt.Errorf("it is of version %.40s; 3.0, 3.1 and Swagger 2.0 can be read", version+swagger)
}
