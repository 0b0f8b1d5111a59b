//go:build go1.24

package fakeapi_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
	"github.com/kubefake/kubefake/internal/story"
)

// An eventStream reads the events of a control endpoint.
type eventStream struct {
	t  *testing.T
	in *bufio.Reader
	io.Closer
}

// followEvents opens the stream of a server after an event.
func followEvents(t *testing.T, srv *fakeapi.Server, after string) eventStream {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/debug/fakeapi/events", nil)
	require.NoError(t, err)
	req.Header.Set("Last-Event-ID", after)
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { resp.Body.Close() })
	require.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	return eventStream{t, bufio.NewReader(resp.Body), resp.Body}
}

// next returns the next event and its ID.
func (s eventStream) next() (id string, part *story.Story) {
	s.t.Helper()
	line := func(prefix string) string {
		text, err := s.in.ReadString('\n')
		require.NoError(s.t, err)
		text, ok := strings.CutPrefix(text, prefix)
		require.True(s.t, ok, text)
		return strings.TrimSuffix(text, "\n")
	}
	id = line("id: ")
	require.NoError(s.t, json.Unmarshal([]byte(line("data: ")), &part))
	line("")
	return id, part
}

// until returns the parts up to the one with a revision, and the ID of that.
func (s eventStream) until(revision int64) (id string, parts []*story.Story) {
	s.t.Helper()
	for {
		id, part := s.next()
		parts = append(parts, part)
		for _, r := range part.Revisions {
			if r.Revision == revision {
				return id, parts
			}
		}
	}
}

// A stream begins with what has happened, goes on with what happens, and can be resumed after each
// event. Its own requests are not in it.
func TestControlEvents(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	_, err := srv.Store(apitest.ConfigMap("a", "1"))
	require.NoError(t, err)
	s := followEvents(t, srv, "")
	id, part := s.next()
	require.Len(t, part.Revisions, 1)
	assert.Equal(t, "store", part.Revisions[0].Verb)
	assert.Empty(t, part.Requests)

	_, err = srv.Store(apitest.ConfigMap("a", "2"))
	require.NoError(t, err)
	_, parts := s.until(srv.Revision())
	last := parts[len(parts)-1].Revisions[0]
	assert.Equal(t, "configmaps default/a: data.key 1 → 2", last.Brief)
	assert.Equal(t, "data.key", last.Changes[0].Fields[0].Path)

	for after, want := range map[string]int{id: 1, "": 2, "another-" + strings.SplitN(id, "-", 2)[1]: 2, id + "0000": 2, "nonsense": 2} {
		_, part := followEvents(t, srv, after).next()
		assert.Len(t, part.Revisions, want, "after %q", after)
	}
	require.NoError(t, s.Close())
}

// A part with many revisions has the fields of the newest ones only; the others can be read.
func TestControlEventsOfManyWrites(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	first := srv.Revision() + 1
	for range 50 {
		_, err := srv.Store(apitest.ConfigMap("a", "1"))
		require.NoError(t, err)
		require.NoError(t, srv.Remove("configmaps", "default", "a"))
	}
	_, part := followEvents(t, srv, "").next()
	require.Len(t, part.Revisions, 100)
	lean := 0
	for _, r := range part.Revisions {
		if r.Lean {
			lean++
			assert.Empty(t, r.Changes[0].Fields)
		}
	}
	assert.Equal(t, 80, lean)
	assert.True(t, part.Revisions[0].Lean)
	code, answer := apitest.Do(t, srv, "GET", "/debug/fakeapi/revisions?revision="+"a", "")
	assert.Equal(t, http.StatusBadRequest, code, answer)
	code, answer = apitest.Do(t, srv, "GET", "/debug/fakeapi/revisions?revision="+strconv.FormatInt(first, 10), "")
	require.Equal(t, http.StatusOK, code, answer)
	assert.NotEmpty(t, answer["revisions"].([]any)[0].(map[string]any)["changes"].([]any)[0].(map[string]any)["fields"])
}

// A stream has placeholders in place of secrets.
func TestControlEventsHideSecrets(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	_, err := srv.Store(fakeapi.Object{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "key", "namespace": "default"}, "stringData": map[string]any{"password": "correct horse"}})
	require.NoError(t, err)
	_, part := followEvents(t, srv, "").next()
	text, err := json.Marshal(part)
	require.NoError(t, err)
	assert.Contains(t, string(text), "scrubbed-")
	assert.NotContains(t, string(text), "horse")
	assert.NotContains(t, string(text), "Y29ycmVjdCBob3JzZQ==")
}

// A server that ends ends the stream.
func TestControlEventsEnd(t *testing.T) {
	srv := fakeapi.Start(t)
	s := followEvents(t, srv, "")
	s.next()
	srv.Close()
	_, _ = io.Copy(io.Discard, s.in) // returns
}
