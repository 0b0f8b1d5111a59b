package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/yaml"
)

// A server is one that stories are played on.
type server struct {
	url, token string
	client     *http.Client
}

func newServer(url, token string) *server {
	return &server{url, token, &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 32, DisableCompression: true},
		Timeout:   time.Minute,
	}}
}

// An answer is what is compared of a response.
type answer struct {
	status int
	header map[string][]string
	body   any
}

// comparedHeaders are the headers that clients read.
var comparedHeaders = []string{"Content-Type", "Warning", "Allow", "Location", "Retry-After", "Accept-Patch", "Vary", "Www-Authenticate"}

// errPanicked is the error of a request whose handler panics in the server.
var errPanicked = errors.New("the server panicked")

// panicMessage begins the answer of a server that has recovered from a panic.
const panicMessage = "This request caused apiserver to panic."

// broken returns the error of a connection, which is an errPanicked if the server closed
// the connection while it answered.
func broken(s Step, err error) error {
	for _, closed := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET} {
		if errors.Is(err, closed) {
			err = fmt.Errorf("%w: %w", errPanicked, err)
			break
		}
	}
	return fmt.Errorf("%s: %w", s, err)
}

// send sends a request and reads its answer. It repeats the request while a cache of the server is not
// ready, as that of a real one is for some time after a definition. The error is an errPanicked if the
// server panics.
func (e *server) send(ctx context.Context, s Step, v *view) (*answer, error) {
	for {
		a, err := e.sendOnce(ctx, s, v)
		if err != nil || a.status != http.StatusTooManyRequests || !strings.Contains(messageOf(a.body), "(re)initializing") {
			return a, err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (e *server) sendOnce(ctx context.Context, s Step, v *view) (*answer, error) {
	var body io.Reader
	if s.Body != "" {
		raw := encode(v.expand(s.Body), s.Encoding)
		body = bytes.NewReader(raw[:max(0, len(raw)-s.Cut)])
	}
	req, err := http.NewRequestWithContext(ctx, s.Method, e.url+v.expand(s.Path), body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s, err)
	}
	req.Header.Set("Authorization", "Bearer "+e.token)
	req.Header.Set("User-Agent", "differ")
	for k, text := range s.Header {
		req.Header.Set(k, v.expand(text))
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, broken(s, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, broken(s, err)
	}
	if resp.StatusCode == http.StatusInternalServerError && bytes.HasPrefix(raw, []byte(panicMessage)) {
		return nil, fmt.Errorf("%s: %w", s, errPanicked)
	}
	a := &answer{status: resp.StatusCode, header: map[string][]string{}}
	for _, name := range comparedHeaders {
		if values := resp.Header.Values(name); values != nil {
			a.header[name] = v.texts(values)
		}
	}
	decoded := decode(resp.Header.Get("Content-Type"), raw)
	path, _, _ := strings.Cut(s.Path, "?")
	v.remember(v.expand(path), decoded)
	a.body = v.normalize("", decoded)
	if o, ok := a.body.(object); ok && strings.HasSuffix(s.Header["Content-Type"], "cbor") {
		if message, ok := o["message"].(string); ok {
			o["message"] = wrongCBOR.ReplaceAllString(message, "$1")
		}
	}
	return a, nil
}

// decode returns the values of a body: of a watch, a list of its events; of a type that is
// not known, the text.
func decode(contentType string, raw []byte) any {
	media, parameters, _ := mime.ParseMediaType(contentType)
	var out any
	switch media {
	case "application/json", "application/json;stream=watch":
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var values list
		for {
			var value any
			if err := d.Decode(&value); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return string(raw)
			}
			values = append(values, value)
		}
		if len(values) == 1 && !isEvent(values[0]) {
			return values[0]
		}
		// When a real server sends a bookmark depends on the second.
		return slices.DeleteFunc(values, isPeriodicBookmark)
	case "application/yaml":
		if yaml.Unmarshal(raw, &out) == nil {
			return jsonValue(out)
		}
	case "application/cbor", "application/cbor-seq":
		if values, err := fromCBOR(raw); err == nil {
			if media == "application/cbor" && len(values) == 1 {
				return values[0]
			}
			return slices.DeleteFunc(values, isPeriodicBookmark)
		}
	case protobufType:
		if parameters["stream"] == "watch" {
			if events, err := eventsFromProtobuf(raw); err == nil {
				return slices.DeleteFunc(events, isPeriodicBookmark)
			}
		} else if o, err := fromProtobuf(raw); err == nil {
			return o
		}
	}
	return string(raw)
}

// isEvent reports whether a value is an event of a watch.
func isEvent(v any) bool {
	o, _ := v.(object)
	return o["type"] != nil && o["object"] != nil && o["kind"] == nil
}

// isPeriodicBookmark reports whether a value is a bookmark, except that which ends the
// initial events.
func isPeriodicBookmark(v any) bool {
	o, _ := v.(object)
	return o["type"] == "BOOKMARK" && !strings.Contains(textOf(o), "k8s.io/initial-events-end")
}

// jsonValue returns a value as JSON has it.
func jsonValue(v any) any {
	switch t := v.(type) {
	case map[any]any:
		out := object{}
		for k, e := range t {
			out[fmt.Sprint(jsonValue(k))] = jsonValue(e)
		}
		return out
	case object:
		for k, e := range t {
			t[k] = jsonValue(e)
		}
	case list:
		for i, e := range t {
			t[i] = jsonValue(e)
		}
	case []byte:
		return string(t)
	case float64, int64, uint64:
		b, err := json.Marshal(t)
		if err == nil {
			return json.Number(b)
		}
	}
	return v
}

// A view is what a story has seen of one server. It gives what each server chooses by itself a
// name in the order of appearance: the second UID is <uid 2> at both servers.
type view struct {
	id       string
	fixed    *strings.Replacer // of the placeholders that are the same for all steps
	names    map[string]string // <uid 2> by UID
	counts   map[string]int
	versions map[string]string // by path
	uids     map[string]string // by path
}

func newView(id string, fixed ...string) *view {
	return &view{
		id: id, fixed: strings.NewReplacer(append(fixed, "{id}", id)...),
		names: map[string]string{}, counts: map[string]int{}, versions: map[string]string{}, uids: map[string]string{},
	}
}

// aside returns a view for an answer that is not compared: what it names does not count.
func (v *view) aside() *view {
	out := *v
	out.names, out.counts = map[string]string{}, map[string]int{}
	return &out
}

var placeholder = regexp.MustCompile(`\{(rv|uid) ([^}"]+)\}`)

// expand replaces the placeholders of a text.
func (v *view) expand(text string) string {
	return placeholder.ReplaceAllStringFunc(v.fixed.Replace(text), func(p string) string {
		what, path, _ := strings.Cut(p[1:len(p)-1], " ")
		if what == "rv" {
			return v.versions[path]
		}
		return v.uids[path]
	})
}

// remember keeps the version and the UID of an answered object by its path.
func (v *view) remember(path string, body any) {
	o, _ := body.(object)
	meta, _ := o["metadata"].(object)
	version, _ := meta["resourceVersion"].(string)
	uid, _ := meta["uid"].(string)
	if uid == "" {
		return
	}
	if name, _ := meta["name"].(string); !strings.HasSuffix(path, "/"+name) {
		path += "/" + name
	}
	v.versions[path], v.uids[path] = version, uid
}

var (
	uidPattern      = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timePattern     = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC)`)
	addressPattern  = regexp.MustCompile(`\b10\.0\.0\.\d+\b`)
	versionPattern  = regexp.MustCompile(`(?i)(resource ?version(?:\W{1,9}| in record \(| in object meta: ))\d+( \(\d+\))?`)
	hostPattern     = regexp.MustCompile(`\b\d+\.\d+\.\d+\.\d+:\d+\b`)
	storyPattern    = regexp.MustCompile(`\bd[0-9a-f]{9}\.example\.com\b`)
	selfTypePattern = regexp.MustCompile(`selfType\d+`)
	goTimePattern   = regexp.MustCompile(`time\.Date\(20\d\d, [^)]*\)`)
	pointerPattern  = regexp.MustCompile(`\(0x[0-9a-f]{9,}\)`)
	agePattern      = regexp.MustCompile(`^\d+m?s$`)
)

// wrongCBOR is the message of a body in CBOR with wrong types. What follows its head
// differs, see "CBOR bodies" in docs/differences.md.
var wrongCBOR = regexp.MustCompile(`(cannot be handled as a \w+: ).*`)

// name returns the name of a value that the server has chosen.
func (v *view) name(kind, value string) string {
	key := kind + " " + value
	if v.names[key] == "" {
		v.counts[kind]++
		v.names[key] = fmt.Sprintf("<%s %d>", kind, v.counts[kind])
	}
	return v.names[key]
}

// text returns a text without what each server chooses by itself.
func (v *view) text(s string) string {
	s = strings.ReplaceAll(s, v.id, "{id}")
	s = uidPattern.ReplaceAllStringFunc(s, func(uid string) string { return v.name("uid", uid) })
	s = timePattern.ReplaceAllString(s, "<time>")
	s = addressPattern.ReplaceAllString(s, "<ip>")
	s = hostPattern.ReplaceAllString(s, "<host>")
	s = selfTypePattern.ReplaceAllString(s, "selfType")
	s = goTimePattern.ReplaceAllString(s, "<time>")
	s = pointerPattern.ReplaceAllString(s, "(<pointer>)")
	s = strings.ReplaceAll(s, "\u00a0", " ") // cmp.Diff chooses one of the spaces when the process starts
	return versionPattern.ReplaceAllString(s, "$1<version>")
}

func (v *view) texts(values []string) []string {
	out := make([]string, len(values))
	for i, s := range values {
		out[i] = v.text(s)
	}
	return out
}

// normalize returns a value of a field without what each server chooses by itself, and
// without the order of errors and managers, which may depend on the time.
func (v *view) normalize(field string, value any) any {
	switch t := value.(type) {
	case object:
		if t["kind"] == "Status" {
			sortCauses(t)
		}
		// Other stories change the version of a list and of a bookmark.
		if event, ok := t["object"].(object); ok && t["type"] == "BOOKMARK" {
			if meta, ok := event["metadata"].(object); ok {
				meta["resourceVersion"] = "0"
			}
		}
		if meta, ok := t["metadata"].(object); ok && meta["resourceVersion"] != nil && meta["uid"] == nil && meta["name"] == nil {
			meta["resourceVersion"] = "0"
		}
		out := object{}
		for _, k := range sortedKeys(t) {
			out[v.text(k)] = v.normalize(k, t[k])
		}
		return out
	case list:
		out := make(list, 0, len(t))
		for _, e := range t {
			if ofOther(e) {
				continue
			}
			out = append(out, v.normalize(field, e))
		}
		switch field {
		case "managedFields", "resourceRules", "nonResourceRules": // the last two are in the order of a Go map
			slices.SortFunc(out, func(a, b any) int { return strings.Compare(textOf(a), textOf(b)) })
		}
		return out
	case string:
		switch {
		case field == "resourceVersion" && t != "" && t != "0":
			return v.name("version", t)
		case field == "continue" && t != "":
			return "<continue>"
		case field == "manager" && strings.HasPrefix(t, "kube-apiserver-"):
			return "kube-apiserver" // the name of the executable
		case field == "cells" && agePattern.MatchString(t):
			return "<age>"
		}
		if field == "message" {
			return sortErrors(v.text(t))
		}
		return v.text(t)
	case json.Number:
		if field == "nodePort" || field == "healthCheckNodePort" {
			return "<port>"
		}
	}
	return value
}

// ofOther reports whether an element of a list of API groups or paths is of another story.
func ofOther(e any) bool {
	if o, ok := e.(object); ok {
		e = o["name"]
	}
	text, _ := e.(string)
	return storyPattern.MatchString(text)
}

// undeclared is the line of an apply's error for a field that the schema does not have.
var undeclared = regexp.MustCompile(`(?m)[^.\n]*: field not declared in schema$`)

// sortErrors sorts the errors of fields in a message of apply, which are in the order of a Go map.
func sortErrors(message string) string {
	head, errors, ok := strings.Cut(message, "errors:\n")
	if !ok {
		return message
	}
	lines := strings.Split(errors, "\n")
	slices.Sort(lines)
	return head + "errors:\n" + strings.Join(lines, "\n")
}

// moreErrors reports whether a message of apply has the errors of another one, and perhaps more. A
// real server finds the fields of a map in the order of a Go map until one is not declared, so that
// which one that is, and which errors come before it, is chance.
func moreErrors(message, than string) bool {
	if !undeclared.MatchString(than) || !undeclared.MatchString(message) {
		return false
	}
	const unknown = "<field>: field not declared in schema"
	parse := func(text string) (head string, lines []string) {
		text = undeclared.ReplaceAllString(text, unknown)
		head, rest, ok := strings.Cut(text, "errors:\n")
		if !ok { // the only error follows the last colon
			head = text[:strings.LastIndex(strings.TrimSuffix(text, unknown), ": ")+len(": ")]
			rest = text[len(head):]
		}
		for line := range strings.Lines(rest) {
			lines = append(lines, strings.TrimSpace(line))
		}
		return head, lines
	}
	head, lines := parse(message)
	head2, fewer := parse(than)
	return head == head2 && !slices.ContainsFunc(fewer, func(line string) bool { return !slices.Contains(lines, line) })
}

// sortCauses sorts the causes of a Status, whose order is not defined, and removes the
// message that has them.
func sortCauses(status object) {
	details, _ := status["details"].(object)
	causes, _ := details["causes"].(list)
	if len(causes) < 2 {
		return
	}
	slices.SortFunc(causes, func(a, b any) int { return strings.Compare(textOf(a), textOf(b)) })
	status["message"] = "<several causes>"
}

func textOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error() // unreachable: the values are JSON
	}
	return string(b)
}

// A difference is a step whose answers are not alike.
type difference struct {
	step  Step
	fails bool     // only the second server answers with a server error, or not at all
	lines []string // the first server's answer first
}

// failed begins the kinds of differences that are failures.
const failed = "FAILS: "

var particular = regexp.MustCompile(`"(\\.|[^"\\])*"|\d+|\[[^\]]*\]`)

// kind returns what differences of one kind have in common.
func (d *difference) kind() string {
	line := d.lines[0]
	if len(line) > 160 {
		line = line[:160]
	}
	kind := d.step.Method + " " + particular.ReplaceAllString(line, "_")
	if d.fails {
		return failed + kind
	}
	return kind
}

// compare returns the differences of two answers, nil if they are alike.
func compare(a, b *answer) []string {
	var lines []string
	if a.status != b.status {
		return []string{fmt.Sprintf("status: %d, not %d: %s, not %s", a.status, b.status, messageOf(a.body), messageOf(b.body))}
	}
	compareValues("", a.body, b.body, &lines)
	for _, k := range comparedHeaders {
		if x, y := strings.Join(a.header[k], ", "), strings.Join(b.header[k], ", "); x != y {
			lines = append(lines, fmt.Sprintf("header %s: %q, not %q", k, x, y))
		}
	}
	return lines
}

func messageOf(body any) string {
	if o, ok := body.(object); ok && o["kind"] == "Status" {
		return textOf(o["message"])
	}
	return short(textOf(body))
}

// maxText is how much of a text is printed.
const maxText = 300

func short(s string) string {
	if len(s) > maxText {
		return s[:maxText] + "..."
	}
	return s
}

// goDiff begins the difference of two specs as releases before v1.34 print it, and jsonDiff as this
// server does, see "Differences of specs before v1.34" in docs/differences.md.
var goDiff, jsonDiff = regexp.MustCompile(`(?m)^  \w+\.\w+\{$`), regexp.MustCompile(`(?m)^@@ -`)

// sameBeforeDiff reports whether two messages are alike but for the differences of specs at their ends.
func sameBeforeDiff(real, ours string) bool {
	i, j := goDiff.FindStringIndex(real), jsonDiff.FindStringIndex(ours)
	return i != nil && j != nil && real[:i[0]] == ours[:j[0]]
}

func compareValues(path string, a, b any, lines *[]string) {
	switch x := a.(type) {
	case object:
		if y, ok := b.(object); ok {
			all := maps.Clone(x)
			maps.Copy(all, y)
			for _, k := range sortedKeys(all) {
				v, inX := x[k]
				w, inY := y[k]
				switch {
				case !inX:
					*lines = append(*lines, fmt.Sprintf("%s.%s: absent, not %s", path, k, short(textOf(w))))
				case !inY:
					*lines = append(*lines, fmt.Sprintf("%s.%s: %s, not absent", path, k, short(textOf(v))))
				default:
					compareValues(path+"."+k, v, w, lines)
				}
			}
			return
		}
	case list:
		if y, ok := b.(list); ok && len(x) == len(y) {
			for i := range x {
				compareValues(fmt.Sprintf("%s[%d]", path, i), x[i], y[i], lines)
			}
			return
		}
	}
	if x, ok := a.(string); ok {
		if y, ok := b.(string); ok && (path == ".message" && moreErrors(y, x) || sameBeforeDiff(x, y)) {
			return
		}
	}
	if s, t := textOf(a), textOf(b); s != t {
		same := 0
		for same < len(s) && same < len(t) && s[same] == t[same] {
			same++
		}
		from := 0
		if max(len(s), len(t)) > maxText {
			from = max(0, same-maxText/5)
		}
		*lines = append(*lines, fmt.Sprintf("%s: %s, not %s", path, short(s[from:]), short(t[from:])))
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
