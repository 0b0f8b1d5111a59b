package scenarios

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// Scenario is what has passed so far: requests in the order in which they came,
// and among them the events of watches: what has caused a step is before it.
// Requests whose handler has not returned are not in it, and open watches with
// what they have told.
//
// What a server makes up is a placeholder in the answers: UIDs, versions, times,
// continue tokens. Where a later request has such a value, or a generated name,
// it is captured from the answer that had it first. Managed fields are left out,
// and bookmarks but for those that end initial events.
func (r *Recorder) Scenario() *Scenario {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &transcriber{
		reviser: &reviser{matcher: newMatcher(), last: map[string]int{}},
		scrub:   newScrubber(r.secrets),
		made:    map[string]*made{},
		types:   map[int]string{},
	}
	for _, p := range r.passed {
		t.add(p)
	}
	return &Scenario{Version: Version, Name: "recording", Steps: t.steps}
}

// A transcriber makes steps of what has passed.
type transcriber struct {
	*reviser
	scrub *scrubber
	steps []Step
	made  map[string]*made // by class and value
	types map[int]string   // the Content-Types of watches
	named int              // how many made values have names
	// generatedNames are the made values that are names of objects.
	generatedNames []*made
}

// made is a value that the server has made up.
type made struct {
	class string // uid, rv (of an object), version (of a list), continue or name
	value string
	step  int    // whose answer had it first
	path  string // in that answer
	name  string // "" until a request has it
}

// add makes a step of what has passed, or a part of the one before.
func (t *transcriber) add(p *passed) {
	switch {
	case p.answer == nil && !p.event && !p.ended: // not answered
	case p.event:
		t.event(p)
	case p.ended:
		t.eventsOf(p).Ends = true
	case p.watch != 0:
		st := t.asked(p.request)
		_, st.Watch, _ = strings.Cut(st.Do, " ")
		st.Do, st.As = "", watchName(p.watch)
		t.types[p.watch] = p.answer.Header.Get("Content-Type")
		st.Want = answerOf(p.answer)
		t.append(p, st)
	default:
		st := t.asked(p.request)
		st.Want = answerOf(p.answer)
		body := decodeBody(p.answer.Header.Get("Content-Type"), p.body)
		t.append(p, st)
		if created := p.request.Verb == "create" && p.answer.StatusCode == http.StatusCreated; created {
			t.generated(st.Body, body)
		}
		t.steps[len(t.steps)-1].Want.Body = t.told(p.request, body, "")
	}
}

func (t *transcriber) append(p *passed, st Step) {
	st.At = Duration(p.at.Round(time.Millisecond))
	t.steps = append(t.steps, st)
}

func watchName(n int) string { return "w" + strconv.Itoa(n) }

// event adds an event to the step that reads events of its watch.
func (t *transcriber) event(p *passed) {
	e, err := eventDecoder(t.types[p.watch], bytes.NewReader(p.body))()
	if err != nil {
		e = string(p.body)
	}
	if isPeriodic(e) {
		return
	}
	st := t.eventsOf(p)
	st.Want.Events = append(st.Want.Events, t.told(p.request, e, strconv.Itoa(st.Count)+"."))
	st.Count++
}

// isPeriodic reports whether an event is a bookmark that only the time of day
// has brought.
func isPeriodic(e any) bool {
	kind, _ := lookup(e, "type")
	end, _ := lookup(e, `object.metadata.annotations.k8s\.io/initial-events-end`)
	return kind == "BOOKMARK" && end != "true"
}

// eventsOf is the step that reads events of a watch: the last one, if it does,
// else a new one.
func (t *transcriber) eventsOf(p *passed) *Step {
	if n := len(t.steps); n == 0 || t.steps[n-1].Events != watchName(p.watch) {
		t.append(p, Step{Events: watchName(p.watch), Want: &Answer{}})
	}
	st := &t.steps[len(t.steps)-1]
	st.At = Duration(p.at.Round(time.Millisecond))
	return st
}

// told is an answer as a want has it. prefix is where it stands in the answer of
// the newest step.
func (t *transcriber) told(r *recordedRequest, body any, prefix string) any {
	if body == nil {
		return nil
	}
	t.scrub.scrub(r.resource(), body)
	dropManagedFields(body)
	t.loosen(prefix, body)
	t.note(prefix, "", body)
	return mapStrings(t.value("", missing{}, body), t.withNames)
}

// loosen leaves open which version a list or a bookmark has: it depends on what
// else happens at the server.
func (t *transcriber) loosen(prefix string, body any) {
	event, _ := body.(map[string]any)
	isBookmark := event["type"] == "BOOKMARK"
	if isBookmark {
		prefix, body = prefix+"object.", event["object"]
	}
	o, _ := body.(map[string]any)
	if _, isList := o["items"]; !isList && !isBookmark {
		return
	}
	if version := object.String(o, "metadata", "resourceVersion"); version != "" {
		t.make("version", version, prefix+"metadata.resourceVersion")
		o["metadata"].(map[string]any)["resourceVersion"] = "<rv>"
	}
}

// resource is the resource with its group.
func (r *recordedRequest) resource() string {
	return status.GroupResource{Group: r.Group, Resource: r.Resource}.String()
}

// note finds what the server has made up in a value, which stands at a path and
// under a key.
func (t *transcriber) note(path, key string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			t.note(path+strings.ReplaceAll(k, ".", `\.`)+".", k, v[k])
		}
	case []any:
		for i, e := range v {
			t.note(path+strconv.Itoa(i)+".", "", e)
		}
	case string:
		switch {
		case uidPattern.MatchString(v):
			t.make("uid", v, path)
		case key == "resourceVersion" && numberPattern.MatchString(v) && v != "0":
			t.make("rv", v, path)
		case key == "continue" && v != "":
			t.make("continue", v, path)
		}
	}
}

// make notes a value that the newest step's answer has at a path.
func (t *transcriber) make(class, value, path string) *made {
	m := t.made[class+value]
	if m == nil {
		m = &made{class: class, value: value, step: len(t.steps) - 1, path: strings.TrimSuffix(path, ".")}
		t.made[class+value] = m
	}
	return m
}

// generated notes the name that the server has made for a new object.
func (t *transcriber) generated(sent, got any) {
	prefix, _ := lookup(sent, "metadata.generateName")
	name, _ := lookup(sent, "metadata.name")
	if prefix == nil || name != nil {
		return
	}
	if name, ok := lookup(got, "metadata.name"); ok {
		if name, ok := name.(string); ok {
			t.generatedNames = append(t.generatedNames, t.make("name", name, "metadata.name"))
		}
	}
}

// ref is how a request has a value that the server has made.
func (t *transcriber) ref(m *made) string {
	if m.name == "" {
		t.named++
		m.name = m.class + strconv.Itoa(t.named)
		st := &t.steps[m.step]
		if st.Capture == nil {
			st.Capture = map[string]string{}
		}
		st.Capture[m.name] = m.path
	}
	return "${" + m.name + "}"
}

// withNames puts names in the place of the generated names in a text.
func (t *transcriber) withNames(s string) string {
	for _, m := range t.generatedNames {
		if strings.Contains(s, m.value) {
			s = strings.ReplaceAll(s, m.value, t.ref(m))
		}
	}
	return s
}

var anyUID = regexp.MustCompile(strings.Trim(uidPattern.String(), "^$"))

// withReferences puts names in the place of all UIDs and names in a text of a
// request that the server has made.
func (t *transcriber) withReferences(s string) string {
	return t.withNames(anyUID.ReplaceAllStringFunc(s, func(uid string) string {
		if m := t.made["uid"+uid]; m != nil {
			return t.ref(m)
		}
		return uid
	}))
}

// asked is a request as a step.
func (t *transcriber) asked(r *recordedRequest) Step {
	st := Step{Do: r.Method + " " + t.target(r.URL)}
	headers := map[string]string{}
	for name := range r.Header {
		if name == "User-Agent" || strings.HasPrefix(name, "Impersonate-") {
			headers[name] = r.Header.Get(name)
		}
	}
	switch accept := r.Header.Get("Accept"); accept {
	case "":
		headers["Accept"] = ""
	case "application/json":
	default:
		st.Accept = accept
	}
	if len(headers) > 0 {
		st.Headers = headers
	}
	if len(r.body) > 0 {
		t.sent(&st, r)
	}
	return st
}

// target is the path and the query of a request, with names in place of made
// values.
func (t *transcriber) target(u *url.URL) string {
	out := t.withReferences(u.EscapedPath())
	if u.RawQuery == "" {
		return out
	}
	var pairs []string
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		key, value, _ := strings.Cut(pair, "=")
		plain, _ := url.QueryUnescape(value) // what cannot be read is nothing that was made
		var m *made
		switch key {
		case "resourceVersion":
			m = cmp.Or(t.made["version"+plain], t.made["rv"+plain])
		case "continue":
			m = t.made["continue"+plain]
		}
		if m != nil {
			pair = key + "=" + t.ref(m)
		}
		pairs = append(pairs, t.withReferences(pair))
	}
	return out + "?" + strings.Join(pairs, "&")
}

// sent puts the body of a request into its step: as JSON where it can be said in
// JSON, since secrets are found in that.
func (t *transcriber) sent(st *Step, r *recordedRequest) {
	contentType := r.Header.Get("Content-Type")
	doc := decodeSent(contentType, r.body)
	switch {
	case doc != nil && strings.Contains(contentType, "apply-patch"):
		contentType = "application/apply-patch+yaml"
	case doc != nil && (strings.Contains(contentType, "cbor") || strings.Contains(contentType, "protobuf")):
		contentType = ""
	}
	if contentType != "application/json" {
		st.Type = contentType
	}
	switch {
	case doc != nil:
		t.scrub.scrub(r.resource(), doc)
		st.Body = t.references("", doc)
	case utf8.Valid(r.body):
		st.Raw = string(r.body)
	default:
		st.Base64 = base64.StdEncoding.EncodeToString(r.body)
	}
}

// decodeSent is the document that a client sends, a patch included; nil if the
// body is none.
func decodeSent(contentType string, body []byte) any {
	switch {
	case strings.Contains(contentType, "yaml"):
		if b, err := yaml.YAMLToJSON(body); err == nil {
			return decodeJSON(b)
		}
	case strings.Contains(contentType, "cbor"):
		return decodeCBOR(body)
	case strings.Contains(contentType, "protobuf"):
		if v, err := decodeProtobuf(body); err == nil {
			return v
		}
	default:
		return decodeJSON(body)
	}
	return nil
}

// references is a value of a request, which stands under a key, with names in
// place of made values.
func (t *transcriber) references(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			v[k] = t.references(k, v[k])
		}
	case []any:
		for i, e := range v {
			v[i] = t.references(key, e)
		}
	case string:
		if m := cmp.Or(t.made["rv"+v], t.made["version"+v]); key == "resourceVersion" && m != nil {
			return t.ref(m)
		}
		return t.withReferences(v)
	}
	return v
}
