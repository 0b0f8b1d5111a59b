package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two servers of this process answer alike, so what differs from a real server is not noise.
func TestAlike(t *testing.T) {
	tell := tellerOf(t)
	for name := range areas {
		t.Run(name, func(t *testing.T) {
			for number := range 3 {
				story := newStory(name, 1, number)
				told, d, err := tell.tell(t.Context(), story)
				require.NoError(t, err)
				assert.Nil(t, d, "%v", d)
				assert.Equal(t, len(story), told, "steps")
			}
		})
	}
}

func TestShrink(t *testing.T) {
	tell := tellerOf(t)
	const path = "/api/v1/namespaces/{id}/configmaps"
	configMap := func(name string) object {
		return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name}}
	}
	story := []Step{
		post("/api/v1/namespaces", object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "{id}"}}),
		post(path, configMap("a")), get(path), post(path, configMap("b")), get(path + "/b"),
	}
	needed := []Step{story[0], story[3], story[4]}
	tell.ends[1].client.Transport = withoutB{tell.ends[1].client.Transport}
	told, d, err := tell.tell(t.Context(), story)
	require.NoError(t, err)
	require.NotNil(t, d)
	require.Equal(t, len(story), told)
	shorter, _ := tell.shrink(t.Context(), story, d)
	assert.Equal(t, needed, shorter)
}

// withoutB answers as if there were no object b.
type withoutB struct{ http.RoundTripper }

func (t withoutB) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/b") {
		r = r.Clone(r.Context())
		r.URL.Path += "0"
	}
	return t.RoundTripper.RoundTrip(r)
}

func TestSameStory(t *testing.T) {
	for name := range areas {
		assert.Equal(t, newStory(name, 7, 3), newStory(name, 7, 3), name)
		assert.NotEqual(t, newStory(name, 7, 3), newStory(name, 8, 3), name)
	}
}

func TestNormalize(t *testing.T) {
	a, b := newView("d1"), newView("d2")
	one := object{"metadata": object{"name": "d1", "uid": "00000000-0000-0000-0000-000000000001", "resourceVersion": "7", "creationTimestamp": "2020-01-01T00:00:00Z"}}
	other := object{"metadata": object{"name": "d2", "uid": "00000000-0000-0000-0000-000000000002", "resourceVersion": "9", "creationTimestamp": "2021-01-01T00:00:00Z"}}
	assert.Equal(t, a.normalize("", one), b.normalize("", other))
	one["metadata"].(object)["resourceVersion"] = "8"
	assert.NotEqual(t, a.normalize("", one), b.normalize("", other), "one version has changed, the other has not")
}

func tellerOf(t *testing.T) *teller {
	const token = "differ"
	var ends []*end
	for range 2 {
		srv, err := startOurs(token, "CBORServingAndStorage=true")
		require.NoError(t, err)
		t.Cleanup(srv.Close)
		e := newEnd(srv.URL, token)
		t.Cleanup(e.client.CloseIdleConnections)
		ends = append(ends, e)
	}
	tell := newTeller("00000", ends...)
	t.Cleanup(tell.close)
	return tell
}
