package story

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// exampleStory returns a story with entries of every sort.
func exampleStory() *Story {
	kubectl := Client{Name: "kubectl", Manager: "kubectl-edit", UserAgent: "kubectl/v1.36.0"}
	change := write(10, 7, "a")
	change.Client = kubectl
	change.Changes[0].Fields = []Field{{Path: "spec.replicas", Old: 1, New: 3}, {Path: "spec.text", New: "two words"}, {Path: "spec.c", Old: "x"}, {Path: "status.d", New: 1}, {Path: "status.e", New: 1}, {Path: "metadata.generation", Old: 1, New: 2}}
	deleted := Revision{Moment: at(200), Revision: 8, Verb: "delete", Client: kubectl, Changes: []Change{{Type: "DELETED", Target: pod("a")}, {Type: "DELETED", Target: pod("b")}}, Omitted: 3}
	swept := Revision{Moment: at(210), Revision: 9, Verb: "update", Client: kubectl, Changes: []Change{{Type: "DELETED", Target: pod("c")}}}
	change.Seen = []Sighting{{0, at(400)}, {1, at(11)}}
	deleted.Seen = []Sighting{{Reader: 0}}
	swept.Seen = []Sighting{{1, at(211)}}
	s := &Story{
		Format: Format, Title: "TestShop", Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Ended: at(500), Revision: 9,
		Revisions: []Revision{change, deleted, swept},
		Readers: []Reader{
			{Client: Client{Name: "manager"}, Kind: WatchReader, Target: Target{Resource: "pods", Namespace: "default"}, Selector: "a=b", Marks: []Mark{read(1, WatchMark, 6), read(400, StepMark, 7), end(410, "too old")}},
			{Client: Client{Name: "viewer"}, Kind: GetReader, Target: Target{Resource: "pods"}, Marks: []Mark{{Moment: at(11), Kind: GetMark, Revision: 6, Newest: 7, Name: "default/a"}}},
		},
		Requests: []Request{
			{Moment: at(300), Client: kubectl, Method: "PUT", URI: "/x", Code: 409, Message: "changed"},
			{Moment: at(301), Client: kubectl, Method: "PUT", URI: "/x", Code: 409, Message: "changed"},
			{Moment: at(302), Client: kubectl, Method: "PATCH", URI: "/x", Code: 200},
			{Moment: at(303), Client: kubectl, Method: "GET", URI: "/proxy", Code: 501, Message: "proxy", Unimplemented: true},
			{Moment: at(304), Client: kubectl, Method: "GET", URI: "/bug", Code: 500, Panic: "goroutine 1\nmain"},
		},
		Notes: []Note{
			{Moment: at(305), Kind: "compaction", Text: "history before r9 was removed", Revision: 9},
			{Moment: at(306), Kind: "fault", Text: "answered 429", Resource: "pods", Client: &Client{Name: "manager"}},
		},
	}
	for i := range s.Revisions {
		s.Revisions[i].Brief = s.Revisions[i].brief()
	}
	return s
}

func TestText(t *testing.T) {
	assert.Equal(t, strings.TrimPrefix(`
  not implemented: 501 GET /proxy (kubectl): proxy
  a bug of the server: 500 GET /bug (kubectl)
    goroutine 1
    main
     +0.010s  r7    kubectl (kubectl-edit) update pods default/a: spec.replicas 1 → 3, spec.text = "two words", spec.c removed, 2 more; seen by manager's watch of pods in default with a=b after 390ms
     +0.011s        viewer's get of pods read r6 when r7 was the newest
     +0.200s  r8    kubectl (kubectl-edit) delete pods default/a and 4 more; not seen by manager's watch of pods in default with a=b
     +0.210s  r9    kubectl (kubectl-edit) update pods default/c DELETED; seen by viewer
     +0.300s        409 PUT /x (kubectl): changed (2 times)
     +0.302s        200 PATCH /x (kubectl): nothing changed
     +0.305s        compaction: history before r9 was removed
     +0.306s        fault: answered 429 (pods), for manager
     +0.410s        manager's watch of pods in default with a=b was ended at r7: too old
`, "\n"), exampleStory().Text(40))
}

func TestTextLimit(t *testing.T) {
	text := exampleStory().Text(2)
	assert.Contains(t, text, "(7 earlier events)")
	assert.NotContains(t, text, "r8")
	assert.Contains(t, text, "was ended at r7", "the newest events are kept")
	assert.Contains(t, text, "not implemented", "unimplemented requests are always listed")
	assert.Empty(t, (&Story{}).Text(10))
}

// A client that creates or updates gets an object before it creates it.
func TestTextOmitsGetsBeforeCreates(t *testing.T) {
	client := Client{Name: "manager"}
	missing := func(order int64, name string, by Client) Request {
		return Request{Moment: at(order), Client: by, Method: "GET", Verb: "get", URI: "/" + name, Target: pod(name), Code: 404, Message: "not found"}
	}
	s := &Story{
		Revisions: []Revision{{Moment: at(20), Revision: 7, Verb: "create", Client: client, Changes: []Change{{Type: "ADDED", Target: pod("a")}}}},
		Requests:  []Request{missing(10, "a", client), missing(11, "b", client), missing(12, "a", Client{Name: "other"}), missing(30, "a", client)},
	}
	text := s.Text(10)
	assert.Equal(t, 1, strings.Count(text, "404 GET /a (manager)"), text)
	assert.Contains(t, text, "404 GET /b (manager)")
	assert.Contains(t, text, "404 GET /a (other)")
}
