package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMemoryLimit(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		name        string
		live, limit int64
	}{
		{"small heap", 20 * mib, 512 * mib},
		{"full history", 300 * mib, 512 * mib},
		{"a quarter more", 448 * mib, 560 * mib},
		{"160 MiB more", 800 * mib, 960 * mib},
		{"a little larger", 1000 * mib, 1168 * mib},
		{"the same step", 1008 * mib, 1168 * mib},
		{"an eighth more", 2048 * mib, 2304 * mib},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.limit, memoryLimit(tt.live)) })
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
