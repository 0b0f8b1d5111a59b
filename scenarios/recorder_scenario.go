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

// Scenario returns the recording so far as a scenario: the requests in the order of
// their arrival, with the events of watches among them, so that the cause of a step
// comes before it. Requests that are still running are omitted; open watches are
// included.
//
// In the answers, values that the server generates are placeholders: UIDs, resource
// versions, times and continue tokens. If a later request has such a value or a
// generated name, the scenario captures it from the answer that had it first.
// Managed fields are omitted, and so are bookmarks, except the one that ends the
// initial events.
func (r *Recorder) Scenario() *Scenario {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := &scenarioBuilder{
		wantUpdater: &wantUpdater{matcher: newMatcher(), last: map[string]int{}},
		scrub:       newScrubber(r.secrets),
		generated:   map[string]*generatedValue{},
		types:       map[int]string{},
	}
	for _, e := range r.entries {
		b.add(e)
	}
	return &Scenario{Version: Version, Name: "recording", Steps: b.steps}
}

// A scenarioBuilder converts recorded entries to steps.
type scenarioBuilder struct {
	*wantUpdater
	scrub *scrubber
	steps []Step
	// generated holds the values that the server has generated, by class and
	// value.
	generated map[string]*generatedValue
	types     map[int]string // Content-Type by the number of the watch
	captured  int            // the number of generated values that have a variable
	// generatedNames are the generated values that are names of objects.
	generatedNames []*generatedValue
}

// A generatedValue is a value that the server has generated.
type generatedValue struct {
	class    string // uid, rv (of an object), version (of a list), continue or name
	value    string
	step     int    // the step whose answer had the value first
	path     string // the path in that answer
	variable string // "" until a request uses the value
}

// add converts an entry to a step, or adds it to the previous step.
func (b *scenarioBuilder) add(e *entry) {
	switch {
	case e.answer == nil && !e.event && !e.ended: // not answered
	case e.event:
		b.addEvent(e)
	case e.ended:
		b.eventsStep(e).Ends = true
	case e.watch != 0:
		st := b.requestStep(e.request)
		_, st.Watch, _ = strings.Cut(st.Do, " ")
		st.Do, st.As = "", watchName(e.watch)
		b.types[e.watch] = e.answer.Header.Get("Content-Type")
		st.Want = answerOf(e.answer)
		b.append(e, st)
	default:
		st := b.requestStep(e.request)
		st.Want = answerOf(e.answer)
		body := decodeBody(e.answer.Header.Get("Content-Type"), e.body)
		b.append(e, st)
		if created := e.request.Verb == "create" && e.answer.StatusCode == http.StatusCreated; created {
			b.recordGeneratedName(st.Body, body)
		}
		b.steps[len(b.steps)-1].Want.Body = b.want(e.request, body, "")
	}
}

func (b *scenarioBuilder) append(e *entry, st Step) {
	st.At = Duration(e.at.Round(time.Millisecond))
	b.steps = append(b.steps, st)
}

func watchName(n int) string { return "w" + strconv.Itoa(n) }

// addEvent adds an event to the step that reads events of its watch.
func (b *scenarioBuilder) addEvent(e *entry) {
	event, err := eventDecoder(b.types[e.watch], bytes.NewReader(e.body))()
	if err != nil {
		event = string(e.body)
	}
	if isPeriodicBookmark(event) {
		return
	}
	st := b.eventsStep(e)
	st.Want.Events = append(st.Want.Events, b.want(e.request, event, strconv.Itoa(st.Count)+"."))
	st.Count++
}

// isPeriodicBookmark reports whether an event is a bookmark other than the one that
// ends the initial events.
func isPeriodicBookmark(e any) bool {
	kind, _ := lookup(e, "type")
	end, _ := lookup(e, `object.metadata.annotations.k8s\.io/initial-events-end`)
	return kind == "BOOKMARK" && end != "true"
}

// eventsStep returns the step that reads events of a watch: the last step, if it
// reads that watch, or else a new one.
func (b *scenarioBuilder) eventsStep(e *entry) *Step {
	if n := len(b.steps); n == 0 || b.steps[n-1].Events != watchName(e.watch) {
		b.append(e, Step{Events: watchName(e.watch), Want: &Answer{}})
	}
	st := &b.steps[len(b.steps)-1]
	st.At = Duration(e.at.Round(time.Millisecond))
	return st
}

// want returns an answer for the want of the newest step. prefix is its path in that
// answer.
func (b *scenarioBuilder) want(r *recordedRequest, body any, prefix string) any {
	if body == nil {
		return nil
	}
	b.scrub.scrub(r.resource(), body)
	dropManagedFields(body)
	b.maskListVersion(prefix, body)
	b.findGenerated(prefix, "", body)
	return mapStrings(b.value("", missing{}, body), b.replaceNames)
}

// maskListVersion replaces the resourceVersion of a list or a bookmark with <rv>: it
// depends on everything that happens at the server.
func (b *scenarioBuilder) maskListVersion(prefix string, body any) {
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
		b.addGenerated("version", version, prefix+"metadata.resourceVersion")
		o["metadata"].(map[string]any)["resourceVersion"] = "<rv>"
	}
}

// resource returns the resource with its group.
func (r *recordedRequest) resource() string {
	return status.GroupResource{Group: r.Group, Resource: r.Resource}.String()
}

// findGenerated records the generated values in v, which is at a path and under a
// key.
func (b *scenarioBuilder) findGenerated(path, key string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			b.findGenerated(path+strings.ReplaceAll(k, ".", `\.`)+".", k, v[k])
		}
	case []any:
		for i, e := range v {
			b.findGenerated(path+strconv.Itoa(i)+".", "", e)
		}
	case string:
		switch {
		case uidPattern.MatchString(v):
			b.addGenerated("uid", v, path)
		case key == "resourceVersion" && numberPattern.MatchString(v) && v != "0":
			b.addGenerated("rv", v, path)
		case key == "continue" && v != "":
			b.addGenerated("continue", v, path)
		}
	}
}

// addGenerated records a value at a path of the newest step's answer.
func (b *scenarioBuilder) addGenerated(class, value, path string) *generatedValue {
	m := b.generated[class+value]
	if m == nil {
		m = &generatedValue{class: class, value: value, step: len(b.steps) - 1, path: strings.TrimSuffix(path, ".")}
		b.generated[class+value] = m
	}
	return m
}

// recordGeneratedName records the name that the server has generated for a new
// object.
func (b *scenarioBuilder) recordGeneratedName(sent, got any) {
	prefix, _ := lookup(sent, "metadata.generateName")
	name, _ := lookup(sent, "metadata.name")
	if prefix == nil || name != nil {
		return
	}
	if name, ok := lookup(got, "metadata.name"); ok {
		if name, ok := name.(string); ok {
			b.generatedNames = append(b.generatedNames, b.addGenerated("name", name, "metadata.name"))
		}
	}
}

// reference returns ${name} for a generated value. It makes the value's step
// capture a variable if it does not yet.
func (b *scenarioBuilder) reference(m *generatedValue) string {
	if m.variable == "" {
		b.captured++
		m.variable = m.class + strconv.Itoa(b.captured)
		st := &b.steps[m.step]
		if st.Capture == nil {
			st.Capture = map[string]string{}
		}
		st.Capture[m.variable] = m.path
	}
	return "${" + m.variable + "}"
}

// replaceNames replaces the generated names in a text with variables.
func (b *scenarioBuilder) replaceNames(s string) string {
	for _, m := range b.generatedNames {
		if strings.Contains(s, m.value) {
			s = strings.ReplaceAll(s, m.value, b.reference(m))
		}
	}
	return s
}

var anyUID = regexp.MustCompile(strings.Trim(uidPattern.String(), "^$"))

// replaceGenerated replaces the generated UIDs and names in a text of a request
// with variables.
func (b *scenarioBuilder) replaceGenerated(s string) string {
	return b.replaceNames(anyUID.ReplaceAllStringFunc(s, func(uid string) string {
		if m := b.generated["uid"+uid]; m != nil {
			return b.reference(m)
		}
		return uid
	}))
}

// requestStep returns a step that sends a request.
func (b *scenarioBuilder) requestStep(r *recordedRequest) Step {
	st := Step{Do: r.Method + " " + b.target(r.URL)}
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
		b.setBody(&st, r)
	}
	return st
}

// target returns the path and the query of a request, with variables in place of
// generated values.
func (b *scenarioBuilder) target(u *url.URL) string {
	out := b.replaceGenerated(u.EscapedPath())
	if u.RawQuery == "" {
		return out
	}
	var pairs []string
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		key, value, _ := strings.Cut(pair, "=")
		plain, _ := url.QueryUnescape(value) // an invalid value was not generated
		var m *generatedValue
		switch key {
		case "resourceVersion":
			m = cmp.Or(b.generated["version"+plain], b.generated["rv"+plain])
		case "continue":
			m = b.generated["continue"+plain]
		}
		if m != nil {
			pair = key + "=" + b.reference(m)
		}
		pairs = append(pairs, b.replaceGenerated(pair))
	}
	return out + "?" + strings.Join(pairs, "&")
}

// setBody sets the body of a request's step. It uses JSON if the body can be
// decoded, because secrets are only found in JSON.
func (b *scenarioBuilder) setBody(st *Step, r *recordedRequest) {
	contentType := r.Header.Get("Content-Type")
	doc := decodeRequest(contentType, r.body)
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
		b.scrub.scrub(r.resource(), doc)
		st.Body = b.replaceInBody("", doc)
	case utf8.Valid(r.body):
		st.Raw = string(r.body)
	default:
		st.Base64 = base64.StdEncoding.EncodeToString(r.body)
	}
}

// decodeRequest decodes the body of a request, which may be a patch. It returns nil
// for a body that it cannot decode.
func decodeRequest(contentType string, body []byte) any {
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

// replaceInBody returns a value of a request's body, which is under a key, with
// variables in place of generated values.
func (b *scenarioBuilder) replaceInBody(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			v[k] = b.replaceInBody(k, v[k])
		}
	case []any:
		for i, e := range v {
			v[i] = b.replaceInBody(key, e)
		}
	case string:
		if m := cmp.Or(b.generated["rv"+v], b.generated["version"+v]); key == "resourceVersion" && m != nil {
			return b.reference(m)
		}
		return b.replaceGenerated(v)
	}
	return v
}
