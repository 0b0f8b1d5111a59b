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
//	{rv PATH}   the resource version that the server has answered last for the object of PATH
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

	// Await, unless it is 0, repeats the request until both servers answer it with this
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

// A player plays stories on two servers.
type player struct {
	servers [2]*server // the first is nil if the stories are played on the other alone
	run     string     // makes the names of this run unlike those of others
	// lag is how long the caches of a server may need to follow a change.
	lag time.Duration
	// patience is how long a step that waits does.
	patience time.Duration
	hooks    *hooks
	names    atomic.Int64
	way      func(ctx context.Context, story []Step) (played int, d *difference, err error) // play or playQuickly
	api      *api                                                                           // that of the second server
}

// newPlayer returns a player. It must be closed.
func newPlayer(run string, servers ...*server) (*player, error) {
	api, err := readAPI(servers[1])
	if err != nil {
		return nil, err
	}
	p := &player{servers: [2]*server(servers), run: run, hooks: startHooks(), api: api}
	p.way = p.play
	return p, nil
}

func (p *player) close() { p.hooks.close() }

func (p *player) newView(id string) *view { return newView(id, p.hooks.placeholders()...) }

// play plays a story until a step differs. It returns how many steps it has played. The error
// is that of a request to the first server; an errPanicked ends the story before a step that
// has no answer to compare with.
func (p *player) play(ctx context.Context, story []Step) (played int, d *difference, err error) {
	return p.playOn(ctx, story, p.servers[:])
}

// playQuickly plays a story on the second server alone until that answers that it has failed. Then it
// plays the steps until there on both.
func (p *player) playQuickly(ctx context.Context, story []Step) (played int, d *difference, err error) {
	played, d, err = p.playOn(ctx, story, p.servers[1:])
	if d == nil || err != nil || p.servers[0] == nil {
		return played, d, err
	}
	return p.play(ctx, story[:played])
}

// playOn plays a story on some servers until a step differs; if there is one server, until it fails.
func (p *player) playOn(ctx context.Context, story []Step, servers []*server) (played int, d *difference, err error) {
	id := fmt.Sprintf("d%s%04x", p.run, p.names.Add(1))
	views := make([]*view, len(servers))
	for k := range servers {
		views[k] = p.newView(id)
	}
	defer p.clean(context.WithoutCancel(ctx), servers, views)
	refused := false
	for i, s := range story {
		if s.Await != 0 && refused {
			continue
		}
		if s.Await != 0 {
			if err := p.await(ctx, s, servers, views); err != nil {
				return i, nil, err
			}
			continue
		}
		answers := make([]*answer, len(servers))
		for k, e := range servers {
			if answers[k], err = e.send(ctx, s, views[k]); err != nil {
				if e == p.servers[0] || ctx.Err() != nil {
					return i, nil, err
				}
				return i + 1, &difference{step: s, fails: true, lines: []string{"no answer: " + err.Error()}}, nil
			}
		}
		refused = answers[0].status >= http.StatusBadRequest
		last := answers[len(answers)-1]
		fails := last.status >= http.StatusInternalServerError
		if len(servers) == 1 {
			if fails {
				return i + 1, &difference{step: s, fails: true, lines: []string{fmt.Sprintf("status: %d: %s", last.status, messageOf(last.body))}}, nil
			}
			continue
		}
		if s.Pause && !refused {
			time.Sleep(p.lag)
		}
		if lines := compare(answers[0], last); lines != nil {
			return i + 1, &difference{step: s, fails: fails && answers[0].status < http.StatusInternalServerError, lines: lines}, nil
		}
	}
	return len(story), nil, nil
}

// await repeats a step on the servers until they answer it as it says.
func (p *player) await(ctx context.Context, s Step, servers []*server, views []*view) error {
	for k, e := range servers {
		for deadline := time.Now().Add(p.patience); ; time.Sleep(100 * time.Millisecond) {
			a, err := e.send(ctx, s, views[k].aside())
			if err != nil {
				return err
			}
			if a.status == s.Await || time.Now().After(deadline) {
				break
			}
		}
	}
	if len(servers) > 1 {
		time.Sleep(p.lag) // a definition is served some time before all follow its changes
	}
	return nil
}

// clean removes what a story has made outside its namespace, its Services, for there are few
// addresses, then the namespace.
func (p *player) clean(ctx context.Context, servers []*server, views []*view) {
	for k, e := range servers {
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
func (p *player) shrink(ctx context.Context, story []Step, d *difference) ([]Step, *difference) {
	for i := len(story) - 2; i > 0; i-- {
		shorter := append(append([]Step{}, story[:i]...), story[i+1:]...)
		played, other, err := p.way(ctx, shorter)
		if err == nil && other != nil && played == len(shorter) && other.kind() == d.kind() {
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
