package scenarios

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"math/big"
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
	"github.com/kubefake/kubefake/internal/scrub"
	"github.com/kubefake/kubefake/internal/status"
)

// Scenario returns the recording so far as a scenario: the requests in the order of
// their arrival, with the events of watches among them, so that the cause of a step
// comes before it. Requests that are still running are omitted; open watches are
// included. A recorder of [RecordTo] has nothing to return: its file has the
// scenario.
//
// In the answers, values that the server generates are placeholders: UIDs, resource
// versions, times and continue tokens. If a later request has such a value or a
// generated name, the scenario captures it from the answer that had it first.
// Managed fields are omitted, and so are bookmarks, except the one that ends the
// initial events.
func (r *Recorder) Scenario() *Scenario {
	r.mu.Lock()
	defer r.mu.Unlock()
	log := &memoryLog{}
	if r.file == nil {
		b := newScenarioBuilder(newScrubber(r.secrets, r.show), log)
		for _, e := range r.entries {
			b.add(e)
		}
	}
	s := &Scenario{Version: Version, Name: "recording"}
	err := assembleSteps(log.lines, func(st any) error {
		s.Steps = append(s.Steps, *st.(*Step))
		return nil
	})
	if err != nil {
		panic("scenarios: " + err.Error()) // unreachable: the builder made the lines
	}
	return s
}

const (
	// maxGenerated is how many of the newest generated values a recording
	// remembers. A request with an older one has the value itself.
	maxGenerated = 100_000
	// maxGeneratedNames is the same for the names of objects.
	maxGeneratedNames = 500
	// maxMergedEvents is how many events one step has at most.
	maxMergedEvents = 1000
)

// An itemLog takes the items of a scenario in their order.
type itemLog interface {
	add(key string, item any, note string)
}

// A scenarioBuilder converts recorded entries to steps. Each entry becomes a step
// of its own, which captures all generated values; assembleSteps simplifies the
// steps.
type scenarioBuilder struct {
	log   itemLog
	scrub *scrub.Scrubber // nil if secrets are shown
	step  *Step           // the newest one

	// generated holds the values that the server has generated, by class and
	// value, in the order of remembered.
	generated  map[string]*generatedValue
	remembered []string
	types      map[int]string // Content-Type by the number of the watch
	captured   int            // the number of generated values so far
	// generatedNames are the generated values that are names of objects.
	generatedNames []*generatedValue

	placeholders map[string]string // by class and value, in the order of numbered
	numbered     []string
	last         map[string]int // class to its highest number of a placeholder
}

func newScenarioBuilder(s *scrub.Scrubber, log itemLog) *scenarioBuilder {
	return &scenarioBuilder{
		log:          log,
		scrub:        s,
		generated:    map[string]*generatedValue{},
		types:        map[int]string{},
		placeholders: map[string]string{},
		last:         map[string]int{},
	}
}

// A generatedValue is a value that the server has generated.
type generatedValue struct {
	class    string // uid, rv (of an object), version (of a list), continue or name
	value    string
	variable string // the variable that captures it
}

// add converts an entry to a step.
func (b *scenarioBuilder) add(e *entry) {
	switch {
	case e.answer == nil && !e.event && !e.ended: // not answered
		return
	case e.event:
		if !b.addEvent(e) {
			return
		}
	case e.ended:
		b.begin(e, Step{Events: watchName(e.watch), Ends: true, Want: &Answer{}})
		delete(b.types, e.watch)
	case e.watch != 0:
		st := b.requestStep(e.request)
		_, st.Watch, _ = strings.Cut(st.Do, " ")
		st.Do, st.As = "", watchName(e.watch)
		b.types[e.watch] = e.answer.Header.Get("Content-Type")
		st.Want = answerOf(e.answer)
		b.begin(e, st)
	default:
		st := b.requestStep(e.request)
		st.Want = answerOf(e.answer)
		b.begin(e, st)
		if e.omitted {
			b.step.Name = st.Do + " (longer than a recording has bodies)"
			b.step.Want.Body = "<any>"
			break
		}
		contentType := e.answer.Header.Get("Content-Type")
		body := b.scrub.Body(e.request.resource(), decodeBody(contentType, e.body))
		if created := e.request.Verb == "create" && e.answer.StatusCode == http.StatusCreated; created {
			b.recordGeneratedName(st.Body, body)
		}
		b.step.Want.Body = b.want(body, "")
	}
	b.log.add("steps", b.step, "")
}

// begin starts a step.
func (b *scenarioBuilder) begin(e *entry, st Step) {
	st.At = Duration(e.at.Round(time.Millisecond))
	b.step = &st
}

func watchName(n int) string { return "w" + strconv.Itoa(n) }

// addEvent starts a step that reads an event. It returns false for an event that is
// omitted.
func (b *scenarioBuilder) addEvent(e *entry) bool {
	event, err := eventDecoder(b.types[e.watch], bytes.NewReader(e.body))()
	if err != nil {
		event = string(e.body)
	}
	if isPeriodicBookmark(event) {
		return false
	}
	event = b.scrub.Body(e.request.resource(), event)
	b.begin(e, Step{Events: watchName(e.watch), Count: 1, Want: &Answer{}})
	b.step.Want.Events = []any{b.want(event, "0.")}
	return true
}

// isPeriodicBookmark reports whether an event is a bookmark other than the one that
// ends the initial events.
func isPeriodicBookmark(e any) bool {
	kind, _ := lookup(e, "type")
	end, _ := lookup(e, `object.metadata.annotations.k8s\.io/initial-events-end`)
	return kind == "BOOKMARK" && end != "true"
}

// want returns an answer for the want of the newest step. prefix is its path in that
// answer.
func (b *scenarioBuilder) want(body any, prefix string) any {
	if body == nil {
		return nil
	}
	dropManagedFields(body)
	b.maskListVersion(prefix, body)
	b.findGenerated(prefix, "", body)
	return mapStrings(b.mask("", body), b.replaceNames)
}

// mask replaces the volatile values in v, which is under a key, with placeholders.
func (b *scenarioBuilder) mask(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if _, isList := v["items"]; isList {
			// Items come first, so that a list's version gets the placeholder of the
			// item with the same version.
			slices.SortStableFunc(keys, func(a, b string) int { return strings.Compare(sortKey(a), sortKey(b)) })
		}
		for _, k := range keys {
			v[k] = b.mask(k, v[k])
		}
	case []any:
		for i, e := range v {
			v[i] = b.mask(key, e)
		}
	case string:
		return b.placeholder(key, v)
	}
	return v
}

// placeholder returns the placeholder for a volatile value, and any other value
// unchanged.
func (b *scenarioBuilder) placeholder(key, value string) string {
	class, placeholder := volatileClass(key, value)
	if class == "" {
		return placeholder
	}
	known := class + value
	if p, ok := b.placeholders[known]; ok {
		return p
	}
	b.last[class]++
	p := fmt.Sprintf("<%s:%d>", class, b.last[class])
	b.placeholders[known] = p
	b.numbered = forgetOldest(append(b.numbered, known), maxGenerated, func(old string) { delete(b.placeholders, old) })
	return p
}

// forgetOldest removes the first element of a list that is longer than limit, and
// calls forget for it.
func forgetOldest[T any](list []T, limit int, forget func(T)) []T {
	if len(list) > limit {
		forget(list[0])
		list = list[1:]
	}
	return list
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
		b.captured++
		m = &generatedValue{class: class, value: value, variable: class + strconv.Itoa(b.captured)}
		b.generated[class+value] = m
		b.remembered = forgetOldest(append(b.remembered, class+value), maxGenerated, func(old string) { delete(b.generated, old) })
		if b.step.Capture == nil {
			b.step.Capture = map[string]string{}
		}
		b.step.Capture[m.variable] = strings.TrimSuffix(path, ".")
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
			m := b.addGenerated("name", name, "metadata.name")
			b.generatedNames = forgetOldest(append(b.generatedNames, m), maxGeneratedNames, func(*generatedValue) {})
		}
	}
}

// reference returns ${name} for a generated value.
func (m *generatedValue) reference() string { return "${" + m.variable + "}" }

// replaceNames replaces the generated names in a text with variables.
func (b *scenarioBuilder) replaceNames(s string) string {
	for _, m := range b.generatedNames {
		if strings.Contains(s, m.value) {
			s = strings.ReplaceAll(s, m.value, m.reference())
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
			return m.reference()
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
			headers[name] = b.scrub.Text(r.Header.Get(name))
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
	switch {
	case r.omitted:
		st.Name, st.Raw = st.Do+" (longer than a recording has bodies)", "omitted"
	case len(r.body) > 0:
		b.setBody(&st, r)
	}
	return st
}

// target returns the path and the query of a request, with variables in place of
// generated values.
func (b *scenarioBuilder) target(u *url.URL) string {
	out := b.replaceGenerated(b.scrub.Text(u.EscapedPath()))
	if u.RawQuery == "" {
		return out
	}
	var pairs []string
	for _, pair := range strings.Split(u.RawQuery, "&") {
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
			pair = key + "=" + m.reference()
		}
		pairs = append(pairs, b.replaceGenerated(b.scrub.Parameter(pair)))
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
		st.Body = b.replaceInBody("", b.scrub.Body(r.resource(), doc))
	case utf8.Valid(r.body) || b.scrub.HasRules(r.resource()):
		st.Raw = b.scrub.Raw(r.resource(), string(r.body))
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
			return m.reference()
		}
		return b.replaceGenerated(v)
	}
	return v
}

// reference matches the variables of generated values in a line.
var reference = regexp.MustCompile(`\$\{(?:uid|rv|version|continue|name)(\d+)\}`)

// assembleSteps simplifies the steps of a scenarioBuilder and calls yield for each:
// it removes the captures of variables that no step uses, and merges consecutive
// events of a watch. Its memory grows by one bit for each captured value.
func assembleSteps(lines func(func(line []byte, note string) error) error, yield func(any) error) error {
	var used big.Int
	err := lines(func(line []byte, _ string) error {
		for _, m := range reference.FindAllSubmatch(line, -1) {
			if n, err := strconv.Atoi(string(m[1])); err == nil && n < math.MaxInt32 {
				used.SetBit(&used, n, 1)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var pending *Step
	err = lines(func(line []byte, _ string) error {
		st := &Step{}
		if err := decode(line, st); err != nil {
			return err
		}
		for name := range st.Capture {
			n, err := strconv.Atoi(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz"))
			if err != nil || used.Bit(n) == 0 {
				delete(st.Capture, name)
			}
		}
		if pending != nil && pending.merge(st) {
			return nil
		}
		last := pending
		pending = st
		if last == nil {
			return nil
		}
		return yield(last)
	})
	if err == nil && pending != nil {
		err = yield(pending)
	}
	return err
}

// merge adds the events of the next step to s. It returns false if that is not
// possible.
func (s *Step) merge(next *Step) bool {
	if s.Events == "" || s.Events != next.Events || s.Ends || s.Count+next.Count > maxMergedEvents {
		return false
	}
	for name, path := range next.Capture {
		_, rest, _ := strings.Cut(path, ".") // the index is 0
		if s.Capture == nil {
			s.Capture = map[string]string{}
		}
		s.Capture[name] = strconv.Itoa(s.Count) + "." + rest
	}
	s.Want.Events = append(s.Want.Events, next.Want.Events...)
	s.Count += next.Count
	s.At, s.Ends = next.At, next.Ends
	return true
}
