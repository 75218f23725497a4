package openapi

import (
	"mime"
	"slices"
	"strings"
)

// kind is how the content of a media type is written and read, the most useful for scripts first.
type kind int

const (
	kindJSON kind = iota
	kindForm
	kindMultipart
	kindText
	kindBinary
)

// kindOf reads a media type, which may have parameters and wildcards.
func kindOf(mediaType string) kind {
	name := mediaName(mediaType)
	main, sub, _ := strings.Cut(name, "/")
	switch {
	case sub == "json" || strings.HasSuffix(sub, "+json") || name == "text/json":
		return kindJSON
	case name == "application/x-www-form-urlencoded":
		return kindForm
	case main == "multipart":
		return kindMultipart
	case main == "text" || sub == "xml" || strings.HasSuffix(sub, "+xml") || sub == "javascript" || sub == "yaml" ||
		sub == "x-yaml" || strings.HasSuffix(sub, "+yaml") || sub == "x-ndjson" || sub == "graphql" || sub == "sql" || sub == "jsonl":
		return kindText
	}
	return kindBinary
}

// mediaName is a media type without parameters, in lower case.
func mediaName(mediaType string) string {
	name, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		name, _, _ = strings.Cut(mediaType, ";")
	}
	return strings.ToLower(strings.TrimSpace(name))
}

// mediaTypes are those of a content object, the one to use first.
func mediaTypes(content map[string]any) []string {
	types := slices.DeleteFunc(sortedKeys(content), func(name string) bool {
		return !strings.Contains(name, "/") || !validHeaderValue(name)
	})
	slices.SortStableFunc(types, func(a, b string) int {
		if order := int(kindOf(a)) - int(kindOf(b)); order != 0 {
			return order
		}
		return preference(a) - preference(b)
	})
	return types
}

// preference puts plain application/json before its relatives, and wildcards last.
func preference(mediaType string) int {
	switch {
	case strings.Contains(mediaType, "*"):
		return 2
	case mediaType == "application/json":
		return 0
	}
	return 1
}
