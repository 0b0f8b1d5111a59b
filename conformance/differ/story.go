package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// A Step is one request of a story. Its texts may have these placeholders:
//
//	{id}        a name of the story: its namespace, and a part of its API groups
//	{rv PATH}   the resource version that the end has answered last for the object of PATH
//	{uid PATH}  its UID
//	{hook}      the URL of the webhooks of this program
//	{ca}        the certificate authority of that URL, in base64
type Step struct {
	Method string
	Path   string
	Header map[string]string
	Body   string

	// Encoding is the media type in which a body of JSON is sent, "hex" if the body is the
	// hexadecimal digits of what is sent, or "" if it is sent as it is. Cut is how many
	// bytes are left out at its end.
	Encoding string
	Cut      int

	// Await, unless it is 0, repeats the request until both ends answer it with this
	// status, or have not for some time. Such steps are not compared. They are left
	// out after a refused step.
	Await int
	// Pause lets the caches of a real server follow the change.
	Pause bool
}

// changes reports whether the request may change something.
func (s Step) changes() bool { return s.Method != http.MethodGet }

// String returns the request on one line.
func (s Step) String() string {
	text := s.Method + " " + s.Path
	for _, k := range sortedKeys(s.Header) {
		text += fmt.Sprintf(" %s: %s", k, s.Header[k])
	}
	if s.Body != "" {
		text += " " + s.Body
	}
	if s.Encoding != "" {
		text += " (" + s.Encoding + ")"
	}
	if s.Cut > 0 {
		text += fmt.Sprintf(" (without the last %d bytes)", s.Cut)
	}
	return text
}

// Media types of patches.
const (
	mergePatch     = "application/merge-patch+json"
	strategicPatch = "application/strategic-merge-patch+json"
	jsonPatch      = "application/json-patch+json"
	applyPatch     = "application/apply-patch+yaml"
)

// request returns a step with a body, which is encoded as JSON unless it is a string.
func request(method, path, contentType string, body any) Step {
	s := Step{Method: method, Path: path}
	if body == nil {
		return s
	}
	if text, ok := body.(string); ok {
		s.Body = text
	} else {
		b, err := json.Marshal(body)
		if err != nil {
			panic(err) // unreachable: bodies are JSON
		}
		s.Body = string(b)
	}
	if contentType != "" {
		s.Header = map[string]string{"Content-Type": contentType}
	}
	return s
}

func post(path string, body any) Step {
	return request(http.MethodPost, path, "application/json", body)
}
func put(path string, body any) Step { return request(http.MethodPut, path, "application/json", body) }
func get(path string) Step           { return request(http.MethodGet, path, "", nil) }
func patch(path, contentType string, body any) Step {
	return request(http.MethodPatch, path, contentType, body)
}

// with returns the step with a header.
func (s Step) with(name, value string) Step {
	header := map[string]string{name: value}
	for k, v := range s.Header {
		if k != name {
			header[k] = v
		}
	}
	s.Header = header
	return s
}

// areas are the kinds of stories. An area returns the requests of a story after that which
// creates the namespace.
var areas = map[string]func(r *source) []Step{
	"access":    access,
	"apply":     apply,
	"crds":      crds,
	"encodings": encodings,
	"fields":    managedFields,
	"http":      oddRequests,
	"kinds":     kinds,
	"policies":  policies,
	"quotas":    quotas,
	"watches":   watches,
	"webhooks":  webhooks,
}

// newStory returns a story of an area for a server with an API.
func newStory(area string, api *api, seed uint64, number int) []Step {
	h := fnv.New64a()
	fmt.Fprint(h, area)
	r := &source{rand.New(rand.NewPCG(seed^h.Sum64(), uint64(number))), api}
	namespace := post("/api/v1/namespaces", object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "{id}"}})
	return append([]Step{namespace}, areas[area](r)...)
}

// A teller tells stories to two ends.
type teller struct {
	ends [2]*end // the first is nil if the stories are told to the other alone
	run  string  // makes the names of this run unlike those of others
	// lag is how long the caches of an end may need to follow a change.
	lag time.Duration
	// patience is how long a step that waits does.
	patience time.Duration
	hooks    *hooks
	names    atomic.Int64
	way      func(ctx context.Context, story []Step) (told int, d *difference, err error) // tell or tellQuickly
	api      *api                                                                         // that of the second end
}

// newTeller returns a teller. It must be closed.
func newTeller(run string, ends ...*end) (*teller, error) {
	api, err := readAPI(ends[1])
	if err != nil {
		return nil, err
	}
	t := &teller{ends: [2]*end(ends), run: run, hooks: startHooks(), api: api}
	t.way = t.tell
	return t, nil
}

func (t *teller) close() { t.hooks.close() }

func (t *teller) newView(id string) *view { return newView(id, t.hooks.placeholders()...) }

// tell tells a story until a step differs. It returns how many steps it has told. The error
// is that of a request to the first end; an errPanicked ends the story before a step that
// has no answer to compare with.
func (t *teller) tell(ctx context.Context, story []Step) (told int, d *difference, err error) {
	return t.tellTo(ctx, story, t.ends[:])
}

// tellQuickly tells a story to the second end alone until that answers that it has failed. Then it
// tells both the steps until there.
func (t *teller) tellQuickly(ctx context.Context, story []Step) (told int, d *difference, err error) {
	told, d, err = t.tellTo(ctx, story, t.ends[1:])
	if d == nil || err != nil || t.ends[0] == nil {
		return told, d, err
	}
	return t.tell(ctx, story[:told])
}

// tellTo tells a story to some ends until a step differs; if there is one end, until it fails.
func (t *teller) tellTo(ctx context.Context, story []Step, ends []*end) (told int, d *difference, err error) {
	id := fmt.Sprintf("d%s%04x", t.run, t.names.Add(1))
	views := make([]*view, len(ends))
	for k := range ends {
		views[k] = t.newView(id)
	}
	defer t.clean(context.WithoutCancel(ctx), ends, views)
	refused := false
	for i, s := range story {
		if s.Await != 0 && refused {
			continue
		}
		if s.Await != 0 {
			if err := t.await(ctx, s, ends, views); err != nil {
				return i, nil, err
			}
			continue
		}
		answers := make([]*answer, len(ends))
		for k, e := range ends {
			if answers[k], err = e.send(ctx, s, views[k]); err != nil {
				if e == t.ends[0] || ctx.Err() != nil {
					return i, nil, err
				}
				return i + 1, &difference{step: s, fails: true, lines: []string{"no answer: " + err.Error()}}, nil
			}
		}
		refused = answers[0].status >= http.StatusBadRequest
		last := answers[len(answers)-1]
		fails := last.status >= http.StatusInternalServerError
		if len(ends) == 1 {
			if fails {
				return i + 1, &difference{step: s, fails: true, lines: []string{fmt.Sprintf("status: %d: %s", last.status, messageOf(last.body))}}, nil
			}
			continue
		}
		if s.Pause && !refused {
			time.Sleep(t.lag)
		}
		if lines := compare(answers[0], last); lines != nil {
			return i + 1, &difference{step: s, fails: fails && answers[0].status < http.StatusInternalServerError, lines: lines}, nil
		}
	}
	return len(story), nil, nil
}

// await repeats a step at the ends until they answer it as it says.
func (t *teller) await(ctx context.Context, s Step, ends []*end, views []*view) error {
	for k, e := range ends {
		for deadline := time.Now().Add(t.patience); ; time.Sleep(100 * time.Millisecond) {
			a, err := e.send(ctx, s, views[k].aside())
			if err != nil {
				return err
			}
			if a.status == s.Await || time.Now().After(deadline) {
				break
			}
		}
	}
	if len(ends) > 1 {
		time.Sleep(t.lag) // a definition is served some time before all follow its changes
	}
	return nil
}

// clean removes what a story has made outside its namespace, its Services, for there are few
// addresses, then the namespace.
func (t *teller) clean(ctx context.Context, ends []*end, views []*view) {
	for k, e := range ends {
		paths := slices.Sorted(maps.Keys(views[k].uids))
		for _, path := range slices.Backward(paths) {
			in := strings.Contains(path, "/namespaces/"+views[k].id+"/") && !strings.Contains(path, "/services/")
			if strings.Contains(path, views[k].id) && !in {
				_, _ = e.send(ctx, Step{Method: http.MethodDelete, Path: path}, views[k]) // it may be gone
			}
		}
	}
}

// shrink removes the steps without which a story differs in the same way. It returns the
// difference of the shortest story that it finds.
func (t *teller) shrink(ctx context.Context, story []Step, d *difference) ([]Step, *difference) {
	for i := len(story) - 2; i > 0; i-- {
		shorter := append(append([]Step{}, story[:i]...), story[i+1:]...)
		told, other, err := t.way(ctx, shorter)
		if err == nil && other != nil && told == len(shorter) && other.kind() == d.kind() {
			story, d = shorter, other
		}
	}
	return story, d
}

// A source is a source of random choices.
type source struct {
	*rand.Rand
	api *api // what the servers serve
}

// chance is true once in n times.
func (r *source) chance(n int) bool { return r.IntN(n) == 0 }

// pick returns one of the values.
func pick[T any](r *source, values ...T) T { return values[r.IntN(len(values))] }

// query returns one of the options as a query once in n times, otherwise "".
func (r *source) query(n int, options ...string) string {
	if !r.chance(n) {
		return ""
	}
	return "?" + pick(r, options...)
}

// join adds a query to a path that may have one.
func join(path, query string) string {
	if strings.Contains(path, "?") {
		return path + strings.Replace(query, "?", "&", 1)
	}
	return path + query
}

type (
	object = map[string]any
	list   = []any
)
