package table_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/table"
)

func TestDuration(t *testing.T) {
	const day = 24 * time.Hour
	for _, tc := range []struct {
		d    time.Duration
		want string
	}{
		{-2 * time.Second, "<invalid>"},
		{-1999 * time.Millisecond, "0s"},
		{0, "0s"},
		{119 * time.Second, "119s"},
		{2 * time.Minute, "2m"},
		{9*time.Minute + 59*time.Second, "9m59s"},
		{10*time.Minute + 59*time.Second, "10m"},
		{179 * time.Minute, "179m"},
		{3 * time.Hour, "3h"},
		{7*time.Hour + 5*time.Minute, "7h5m"},
		{47 * time.Hour, "47h"},
		{2 * day, "2d"},
		{3*day + 4*time.Hour, "3d4h"},
		{8*day + 4*time.Hour, "8d"},
		{729 * day, "729d"},
		{730 * day, "2y"},
		{731 * day, "2y1d"},
		{8 * 365 * day, "8y"},
	} {
		t.Run(tc.want, func(t *testing.T) { assert.Equal(t, tc.want, table.Duration(tc.d)) })
	}
}
