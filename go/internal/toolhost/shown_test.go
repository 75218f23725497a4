package toolhost_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

func shown(t testing.TB, value any) string {
	t.Helper()
	text, err := jsonvalue.Encode(value)
	require.NoError(t, err)
	return string(text)
}
