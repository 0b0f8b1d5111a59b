package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGCPercent(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		name    string
		live    int64
		percent int
	}{
		{"before the first collection", 0, 400},
		{"small heap", 20 * mib, 400},
		{"a heap of 512 MiB with its garbage", 256 * mib, 100},
		{"at least 64 MiB", 500 * mib, 12},
		{"an eighth", 2048 * mib, 12},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.percent, gcPercent(tt.live, lowMemory)) })
	}
}

func TestShrunk(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		name     string
		from, to int64
		want     bool
	}{
		{"compaction by bytes", 256 * mib, 192 * mib, false},
		{"compaction of everything", 256 * mib, 0, true},
		{"small history", 20 * mib, 0, false},
		{"expiry of half", 100 * mib, 50 * mib, true},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, shrunk(tt.from, tt.to)) })
	}
}
