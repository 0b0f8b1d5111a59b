package explore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
)

func TestWatchesAt(t *testing.T) {
	end := time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)
	at := func(beforeEnd time.Duration) time.Time { return end.Add(-beforeEnd) }
	for _, row := range []struct {
		name         string
		began, ended time.Time
		want         bool
	}{
		{"open", at(time.Hour), time.Time{}, true},
		{"opened at the end", at(0), time.Time{}, false},
		{"opened just before the end", at(time.Millisecond), time.Time{}, false},
		{"ended after its timeout", at(time.Hour), at(time.Second), true},
		{"ended at once", at(time.Second), at(time.Second), false},
		{"ended long ago", at(time.Hour), at(time.Minute), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			q := &request{began: row.began, ended: row.ended}
			assert.Equal(t, row.want, q.watchesAt(end, bubblePace))
		})
	}
}

func TestStableName(t *testing.T) {
	owned := func(name string) fakeapi.Object {
		return fakeapi.Object{"metadata": map[string]any{"name": name, "ownerReferences": []any{map[string]any{"name": "web"}}}}
	}
	for name, row := range map[string]struct {
		object fakeapi.Object
		want   string
	}{
		"name":              {fakeapi.Object{"metadata": map[string]any{"name": "web-bcdfg"}}, "web-bcdfg"},
		"by the server":     {fakeapi.Object{"metadata": map[string]any{"name": "web-bcdfg", "generateName": "web-"}}, "web-*"},
		"UID":               {fakeapi.Object{"metadata": map[string]any{"name": "pvc-9ce2a0d8-ed44-4fb3-87fb-572b495f10f3"}}, "pvc-*"},
		"by a controller":   {owned("web-bcdfg"), "web-*"},
		"other characters":  {owned("web-abcde"), "web-abcde"},
		"of another owner":  {owned("db-bcdfg"), "db-bcdfg"},
		"hash of templates": {owned("web-bcdfg24567"), "web-bcdfg24567"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, row.want, stableName(row.object)) })
	}
}

func TestSkewed(t *testing.T) {
	p := bubblePace.skewed()
	seen := map[time.Duration]bool{0: true, skew: true}
	for _, d := range []time.Duration{p.Quiet, p.Hold, p.Restart, p.Limit} {
		rest := d % time.Millisecond
		assert.False(t, seen[rest], "the rest of %v is that of another timer", d)
		seen[rest] = true
	}
}
