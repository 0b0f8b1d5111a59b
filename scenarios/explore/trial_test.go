package explore

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/object"
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
	created := func(name string) fakeapi.Object {
		return fakeapi.Object{"metadata": map[string]any{"name": name, "creationTimestamp": "2026-11-29T08:30:02Z"}}
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
		"minutes":           {created("report-29932350"), "report-*"},
		"seconds":           {created("backup-1795941002"), "backup-*"},
		"another time":      {created("backup-1595941002"), "backup-1595941002"},
		"a number":          {created("db-3"), "db-3"},
		"a large number":    {created("db-9223372036854775807"), "db-9223372036854775807"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, row.want, stableName(row.object)) })
	}
}

// A finding shows no secrets.
func TestJudgeHidesSecrets(t *testing.T) {
	key := objectKey{resource: "secrets", namespace: "default", name: "a"}
	ends := func(token string) *outcome {
		return &outcome{final: map[objectKey][]ended{key: {{text: `{"kind":"Secret","apiVersion":"v1","data":{"token":"` + token + `"}}`}}}}
	}
	found := (&System{}).judge(ends("b25l"), ends("dHdv"), bubblePace)
	assert.Equal(t, []Violation{{EndState, key.String(), `data.token is "scrubbed-1", in the reference run "scrubbed-2"`}}, found)
}

func TestSkewed(t *testing.T) {
	p := bubblePace.skewed()
	seen := map[time.Duration]bool{0: true, skew: true}
	for _, d := range []time.Duration{p.Quiet, p.Hold, p.Restart, p.Limit, p.Patience} {
		rest := d % time.Millisecond
		assert.False(t, seen[rest], "the rest of %v is that of another timer", d)
		seen[rest] = true
	}
}

// A compaction does not remove a change that harvest has not read.
func TestCompactWhileOthersWrite(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	run := &trial{target: forkOf(srv, srv), next: srv.Revision() + 1}
	const writes = 300
	done := make(chan error, 1)
	go func() {
		for i := range writes {
			_, err := srv.Store(map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap",
				"metadata": map[string]any{"namespace": "default", "name": "a"}, "data": map[string]any{"n": fmt.Sprint(i)},
			})
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for writing := true; writing; {
		select {
		case err := <-done:
			require.NoError(t, err)
			writing = false
		default:
			run.act(Decision{Do: Compact}, &faults.Point{Request: &http.Request{}, Effects: unanswered{}})
		}
	}
	run.harvest()
	require.Len(t, run.changes, writes)
	for i, c := range run.changes {
		assert.Equal(t, fmt.Sprint(i), object.String(c.object, "data", "n"))
	}
}

// unanswered are the effects of a Point whose answers go nowhere.
type unanswered struct{ faults.Effects }

func (unanswered) Respond(faults.Fault) {}
