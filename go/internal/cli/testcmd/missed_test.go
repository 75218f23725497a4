package testcmd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/app"
)

func TestMissedLines(t *testing.T) {
	for want, lines := range map[string]map[int]int{
		"":           {1: 1, 2: 7},
		"2":          {1: 1, 2: 0, 3: 1},
		"3-5,9":      {1: 1, 3: 0, 5: 0, 7: 2, 9: 0},
		"1-9":        {1: 0, 9: 0},
		"4":          {4: 0},
		"1-2,5,8-10": {1: 0, 2: 0, 3: 1, 5: 0, 6: 1, 8: 0, 9: 0, 10: 0},
	} {
		require.Equal(t, want, missed(&app.FileCoverage{Lines: lines}))
	}
	many := map[int]int{}
	for line := range 30 {
		many[line+1] = line % 2
	}
	require.Equal(t, "1,3,5,7,9,11,13,15,17,19 and 5 more", missed(&app.FileCoverage{Lines: many}))
}
