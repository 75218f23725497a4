package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExample(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out))
	require.Equal(t, "counted\t2\ntotal 23, free delivery true\nerror: missing:1: no price for pear\nended by the deadline: true\n", out.String())
}
