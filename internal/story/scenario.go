package story

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/printable"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// A Selection selects requests. A field that is not set selects all.
type Selection struct {
	From, To                          int64  // positions in the journal, both inclusive
	Client                            string // a name, as in Client.Name
	Resource, Namespace, Name, Status string // Name is a part of a name, Status is as in "4xx"
	Verb                              string
}

// A Scenario has requests as a scenario of package scenarios.
type Scenario struct {
	// Scenario is the file.
	Scenario string `json:"scenario"`
	Steps    int    `json:"steps"`
	// Omitted is how many requests cannot be repeated: writes that were refused or changed nothing,
	// whose bodies the server does not keep.
	Omitted int `json:"omitted"`
}

// A scenarioStep is a step of a scenario.
type scenarioStep struct {
	order int64

	Do      string            `json:"-"` // first
	Store   any               `json:"-"` // instead of Do
	Body    any               `json:"body,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Type    string            `json:"type,omitempty"`
	Want    map[string]any    `json:"want,omitempty"`
}

// ScenarioOf returns the requests that the journal has as a scenario, which repeats them. The
// journal has no bodies, so a write is what it has changed: the create of the object, a merge patch
// with the fields that differ, or the delete. Watches are not in it. Writes that were no requests
// store objects.
func ScenarioOf(from Source, of Selection) Scenario {
	b := newBuilder(from, from.Journal.Began())
	writes := map[mvcc.Revision]journal.Entry[journal.Transaction]{}
	for _, e := range b.transactions(from.Journal.Transactions(), nil) {
		writes[e.What.Revision] = e
	}
	var out Scenario
	var steps []scenarioStep
	for _, e := range from.Journal.Requests() {
		at, err := url.ParseRequestURI(e.What.URI)
		if err != nil || b.Hidden != nil && b.Hidden(at.Path) {
			continue
		}
		rt := route.Parse(e.What.Method, at)
		var w journal.Entry[journal.Transaction]
		if e.What.Method != http.MethodGet {
			if found, ok := writes[mvcc.Revision(e.What.Revision)]; ok {
				delete(writes, found.What.Revision)
				w, e.Order = found, found.Order
			}
		}
		if !rt.IsResource || rt.Verb == "watch" || !of.request(b, &e, &rt) {
			continue
		}
		if st := b.stepOf(&e, &rt, at, w.What.Changes); st != nil {
			steps = append(steps, *st)
		} else {
			out.Omitted++
		}
	}
	for _, e := range writes {
		if who := b.writer(e.What.Writer); e.What.Writer.UserAgent == "" && of.position(e.Order) && (of.Client == "" || of.Client == who.Name) {
			steps = append(steps, b.stored(&e, of)...)
		}
	}
	slices.SortStableFunc(steps, func(a, b scenarioStep) int { return cmp.Compare(a.order, b.order) })
	out.Steps = len(steps)
	out.Scenario = writeScenario(from.Title, steps, out.Omitted)
	return out
}

func (s *Selection) position(order int64) bool {
	return order >= s.From && (s.To == 0 || order <= s.To)
}

func (s *Selection) target(t Target) bool {
	return (s.Resource == "" || s.Resource == t.Resource) && (s.Namespace == "" || s.Namespace == t.Namespace) && strings.Contains(t.Name, s.Name)
}

// request reports whether a request is selected.
func (s *Selection) request(b *builder, e *journal.Entry[journal.CompletedRequest], rt *route.Route) bool {
	who := b.client(e.What.User, e.What.UserAgent)
	return s.position(e.Order) && (s.Client == "" || s.Client == who.Name) && (s.Verb == "" || s.Verb == verbOf(rt.Verb, e.What.Apply)) &&
		(s.Status == "" || s.Status == fmt.Sprintf("%dxx", e.What.Code/100)) && s.target(targetOf(rt))
}

// targetOf returns the target of a request.
func targetOf(rt *route.Route) Target {
	what := Target{rt.Resource, rt.Namespace, rt.Name}
	if rt.Group != "" {
		what.Resource += "." + rt.Group
	} else if rt.Resource == "namespaces" {
		what.Namespace = "" // the path has its own name there
	}
	return what
}

// stepOf returns the step that repeats a request with its changes; nil if that is not possible.
func (b *builder) stepOf(e *journal.Entry[journal.CompletedRequest], rt *route.Route, at *url.URL, changes []mvcc.Event[*storage.Object]) *scenarioStep {
	st := &scenarioStep{order: e.Order, Want: map[string]any{"status": e.What.Code, "body": "<any>"}}
	if e.What.UserAgent != "" {
		st.Headers = map[string]string{"User-Agent": b.Scrubber.Text(e.What.UserAgent)}
	}
	switch {
	case e.What.Method == http.MethodGet || e.What.Method == http.MethodDelete:
		st.Do = e.What.Method + " " + b.Scrubber.URI(e.What.URI)
		return st
	case len(changes) == 0:
		return nil
	}
	change := &changes[len(changes)-1]
	resource, _, name := journal.SplitKey(change.Item.Key)
	if change.Type != mvcc.Put {
		st.Do, st.Want = "DELETE "+strings.TrimSuffix(at.Path, "/eviction"), nil
		return st
	}
	withStatus := rt.Subresource != "" && rt.Subresource != "scale"
	after := b.body(resource, change.Item.Value, withStatus)
	path := inVersion(at.Path, rt, object.String(after, "apiVersion"))
	switch {
	case rt.Subresource == "binding":
		node := map[string]any{"apiVersion": "v1", "kind": "Node", "name": object.Value(after, "spec", "nodeName")}
		st.Do, st.Body = "POST "+path, map[string]any{"apiVersion": "v1", "kind": "Binding", "metadata": map[string]any{"name": name}, "target": node}
	case change.Prev == nil:
		st.Do, st.Body = "POST "+path, after
		if rt.Name != "" { // an apply or an update that creates
			st.Do = strings.TrimSuffix(st.Do, "/"+name)
		}
		st.Want["status"] = http.StatusCreated
	default:
		st.Do, st.Type = "PATCH "+path, "application/merge-patch+json"
		st.Body = mergePatch(b.body(resource, change.Prev.Value, withStatus), after)
		st.Want["status"] = http.StatusOK
	}
	if manager := at.Query().Get("fieldManager"); manager != "" {
		st.Do += "?fieldManager=" + url.QueryEscape(manager)
	}
	return st
}

// inVersion returns the path of a request in the API version of the stored object, which can be another
// one than that of the request: Events of two groups are the same objects.
func inVersion(path string, rt *route.Route, apiVersion string) string {
	prefix := func(version string) string {
		if strings.Contains(version, "/") {
			return "/apis/" + version + "/"
		}
		return "/api/" + version + "/"
	}
	of := strings.TrimPrefix(rt.Group+"/"+rt.Version, "/")
	return prefix(apiVersion) + strings.TrimPrefix(path, prefix(of))
}

// stored returns steps that store the objects of a write that was no request.
func (b *builder) stored(e *journal.Entry[journal.Transaction], of Selection) (out []scenarioStep) {
	for i := range e.What.Changes {
		c := &e.What.Changes[i]
		resource, namespace, name := journal.SplitKey(c.Item.Key)
		if !of.target(Target{resource, namespace, name}) || c.Type != mvcc.Put {
			continue
		}
		out = append(out, scenarioStep{order: e.Order, Store: b.body(resource, c.Item.Value, true)})
	}
	return out
}

// body returns an object as a client sends it: without the metadata that the server sets and, unless
// withStatus is set, without its status.
func (b *builder) body(resource string, o *storage.Object, withStatus bool) map[string]any {
	obj := b.decode(resource, o)
	if m, ok := obj["metadata"].(map[string]any); ok {
		for _, name := range object.ServerMetadata {
			delete(m, name)
		}
	}
	if !withStatus {
		delete(obj, "status")
	}
	return obj
}

// mergePatch returns the JSON merge patch that makes one object of another.
//
// See https://www.rfc-editor.org/rfc/rfc7396.
func mergePatch(old, new map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range union(old, new) {
		before, had := old[name]
		after, has := new[name]
		beforeMap, ok1 := before.(map[string]any)
		afterMap, ok2 := after.(map[string]any)
		switch {
		case had && has && object.Equal(before, after):
		case ok1 && ok2:
			out[name] = mergePatch(beforeMap, afterMap)
		default:
			out[name] = after // nil removes it
		}
	}
	return out
}

// writeScenario writes steps as a file.
func writeScenario(title string, steps []scenarioStep, omitted int) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What clients have asked of %s. A write is what it has changed, because the server keeps no bodies.\n", printable.Line(title))
	if omitted > 0 {
		fmt.Fprintf(&b, "# Left out are writes that were refused or have changed nothing: %d.\n", omitted)
	}
	b.WriteString("name: requests\nsteps:\n")
	for i := range steps {
		key, value := "do", any(steps[i].Do)
		if steps[i].Store != nil {
			key, value = "store", steps[i].Store
		}
		b.WriteString("- " + indented(map[string]any{key: value}) + "\n")
		if rest := indented(&steps[i]); rest != "{}" {
			b.WriteString("  " + rest + "\n")
		}
	}
	return b.String()
}

// indented returns a value as YAML for a place that is indented by two spaces.
func indented(v any) string {
	text, err := json.Marshal(v)
	if err == nil {
		text, err = yaml.JSONToYAML(text)
	}
	if err != nil {
		panic("story: " + err.Error()) // unreachable: the values are those of JSON
	}
	return strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n  ")
}
