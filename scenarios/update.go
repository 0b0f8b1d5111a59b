package scenarios

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/outputfile"
)

// updating reports whether the test binary has a flag named update that is set.
func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// Update writes the results of playing the file's scenarios into the file. It
// replaces only what differs: matching placeholders, comments, and steps without
// want stay as they are. Volatile values become placeholders. An empty want, {}, is
// filled in.
//
// It fails with [ErrNotUpdatable] and does not change the file if a scenario ended
// early, an event did not come, or a step with a difference is not in YAML block
// style.
func (f *File) Update(results ...*Result) error {
	text, err := f.updated(results)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", f.Name, ErrNotUpdatable, err)
	}
	if bytes.Equal(text, bytes.Join(f.documents, nil)) {
		return nil
	}
	return outputfile.WriteText(f.Name, text, 0o644)
}

// updated returns the text of the file with the results in it.
func (f *File) updated(results []*Result) ([]byte, error) {
	docs := slices.Clone(f.documents)
	for _, r := range results {
		i := slices.Index(f.Scenarios, r.Scenario)
		if i < 0 {
			return nil, fmt.Errorf("%s is not in this file", r.Scenario)
		}
		doc, err := r.updated(docs[f.index[i]])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Scenario, err)
		}
		docs[f.index[i]] = doc
	}
	return bytes.Join(docs, nil), nil
}

// updated returns the scenario's document with the result in it.
func (r *Result) updated(doc []byte) ([]byte, error) {
	if r.Err != nil {
		return nil, r.Err
	}
	updated := *r.Scenario
	updated.Steps = slices.Clone(r.Scenario.Steps)
	u, err := newWantUpdater(r)
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfter(doc, []byte("\n"))
	// Placeholders are numbered from the first step on, but the document is edited
	// from the last step on, so that line numbers stay valid.
	edits := map[int]*Answer{}
	for i, s := range r.Steps {
		if len(s.Diffs) == 0 {
			continue
		}
		if s.Step.Want == nil {
			return nil, fmt.Errorf("step %d (%s): only want is updated", i, s.Step)
		}
		if n := len(s.Got.Events); n > 0 && s.Got.Events[n-1] == noEvent {
			return nil, fmt.Errorf("step %d (%s): an event did not come in time", i, s.Step)
		}
		edits[i] = u.answer(s.Step, s.Got)
		updated.Steps[i].Want = edits[i]
	}
	for _, i := range slices.Backward(slices.Sorted(maps.Keys(edits))) {
		if lines, err = setWant(lines, i, edits[i]); err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
	}
	out := bytes.Join(lines, nil)
	return out, check(out, &updated)
}

// check returns an error unless a document decodes to the given scenario.
func check(doc []byte, s *Scenario) error {
	text, err := Format(s)
	if err != nil {
		return err
	}
	want, err := parse(text)
	if err != nil {
		return err
	}
	got, err := parse(doc)
	if err == nil && !reflect.DeepEqual(want, got) {
		err = errors.New("its layout is not supported")
	}
	return err
}

// A wantUpdater converts answers to wants.
type wantUpdater struct {
	*matcher
	last map[string]int // class to its highest number of a placeholder
}

var numberedPlaceholder = regexp.MustCompile(`<(uid|rv):(\d+)>`)

func newWantUpdater(r *Result) (*wantUpdater, error) {
	text, err := marshal(r.Scenario)
	if err != nil {
		return nil, err
	}
	u := &wantUpdater{matcher: r.matcher.clone(), last: map[string]int{}}
	for _, m := range numberedPlaceholder.FindAllStringSubmatch(string(text), -1) {
		if n, err := strconv.Atoi(m[2]); err == nil {
			u.last[m[1]] = max(u.last[m[1]], n)
		}
	}
	return u, nil
}

// answer returns a want for a step that matches the answer.
func (u *wantUpdater) answer(st *Step, got *Answer) *Answer {
	want := *st.Want
	u.partial = st.waits()
	want.Status = got.Status
	if u.partial {
		want.Body = u.value("", want.Body, got.Body)
		return &want
	}
	want.Headers = maps.Clone(want.Headers)
	for _, h := range comparedHeaders {
		if w, g := want.Headers[h], got.Headers[h]; want.Headers != nil && !sameHeader(w, g) {
			delete(want.Headers, h)
			if g != "" {
				want.Headers[h] = g
			}
		}
	}
	want.Warning = nil
	for _, w := range u.list("", anys(st.Want.Warning), anys(got.Warning)) {
		want.Warning = append(want.Warning, w.(string))
	}
	want.Body = u.value("", st.Want.Body, got.Body)
	want.Events = u.list("", st.Want.Events, got.Events)
	return &want
}

// value returns want if it matches got, and otherwise a want for got. key is the key
// of the member that holds the value.
func (u *wantUpdater) value(key string, want, got any) any {
	trial := u.clone()
	var d differences
	trial.value("", want, got, &d)
	if len(d) == 0 {
		u.adopt(trial)
		return want
	}
	switch g := got.(type) {
	case map[string]any:
		w, ok := want.(map[string]any)
		if !ok {
			w = nil
		}
		return u.object(w, g)
	case []any:
		w, _ := want.([]any)
		return u.list(key, w, g)
	case string:
		return u.placeholder(key, g)
	}
	return got
}

func (u *wantUpdater) object(want, got map[string]any) map[string]any {
	out := map[string]any{}
	for k, w := range want {
		if w == "<maybe>" {
			out[k] = w
		}
	}
	keys := slices.Sorted(maps.Keys(got))
	if _, isList := got["items"]; isList {
		// Items come first, so that a list's version gets the placeholder of the item
		// with the same version.
		slices.SortStableFunc(keys, func(a, b string) int { return strings.Compare(sortKey(a), sortKey(b)) })
	}
	for _, k := range keys {
		w, ok := want[k]
		if u.partial && want != nil && !ok || w == "<maybe>" {
			continue
		}
		if !ok {
			w = missing{}
		}
		out[k] = u.value(k, w, got[k])
	}
	return out
}

// sortKey sorts metadata after all other keys.
func sortKey(key string) string {
	if key == "metadata" {
		return "\xff"
	}
	return ""
}

// missing is the want of a value that want does not have. It matches nothing.
type missing struct{}

func (u *wantUpdater) list(key string, want, got []any) []any {
	var out []any
	for i, g := range got {
		var w any = missing{}
		if i < len(want) {
			w = want[i]
		}
		out = append(out, u.value(key, w, g))
	}
	return out
}

// volatileClass returns the class of a value whose placeholder has a number. For
// another value it returns "" and the placeholder, or the value if it is not
// volatile.
func volatileClass(key, value string) (class, placeholder string) {
	switch {
	case uidPattern.MatchString(value):
		return "uid", ""
	case key == "resourceVersion" && numberPattern.MatchString(value) && value != "0":
		return "rv", ""
	case timePattern.MatchString(value):
		return "", "<time>"
	case key == "continue" && value != "":
		return "", "<continue>"
	}
	return "", value
}

// placeholder returns the placeholder for a volatile value, and any other value
// unchanged.
func (u *wantUpdater) placeholder(key, value string) string {
	class, placeholder := volatileClass(key[strings.LastIndex(key, ".")+1:], value) // only has paths as keys
	if class == "" {
		return placeholder
	}
	if p, ok := u.taken[class+value]; ok {
		return p
	}
	u.last[class]++
	p := fmt.Sprintf("<%s:%d>", class, u.last[class])
	u.bound[p], u.taken[class+value] = value, p
	return p
}

// setWant puts a want into the lines of a document: in place of the step's want if
// it has one. It supports block style: the keys of a step are in one column, and
// their values are to the right of it.
func setWant(lines [][]byte, step int, want *Answer) ([][]byte, error) {
	begin, end, column, err := findStep(lines, step)
	if err != nil {
		return nil, err
	}
	text, err := yaml.Marshal(map[string]*Answer{"want": want})
	if err != nil {
		return nil, err
	}
	var block [][]byte
	for _, line := range bytes.SplitAfter(text, []byte("\n")) {
		if len(line) > 0 {
			block = append(block, append(bytes.Repeat([]byte(" "), column), line...))
		}
	}
	for i := begin; i < end; i++ {
		line := lines[i]
		if i == begin {
			line = bytes.Replace(line, []byte("-"), []byte(" "), 1)
		}
		if indent(line) != column || !bytes.HasPrefix(line[column:], []byte("want:")) {
			continue
		}
		after := i + 1
		for after < end && (blank(lines[after]) || indent(lines[after]) > column) {
			after++
		}
		for after > i+1 && blank(lines[after-1]) {
			after--
		}
		if i == begin {
			copy(block[0], lines[i][:column])
		}
		return slices.Concat(lines[:i], block, lines[after:]), nil
	}
	// Blank lines and comments above the next step belong to that step.
	for end > begin+1 && (blank(lines[end-1]) || indent(lines[end-1]) < column) {
		end--
	}
	if last := lines[end-1]; !bytes.HasSuffix(last, []byte("\n")) {
		lines[end-1] = append(slices.Clone(last), '\n')
	}
	return slices.Concat(lines[:end], block, lines[end:]), nil
}

// findStep returns the lines of a step, from begin to before end, and the column of
// its keys.
func findStep(lines [][]byte, step int) (begin, end, column int, err error) {
	at := slices.IndexFunc(lines, func(l []byte) bool { return bytes.HasPrefix(l, []byte("steps:")) })
	if at < 0 {
		return 0, 0, 0, errors.New("steps are not in block style")
	}
	begin, end, column, ok := findItem(lines, at, step)
	if !ok {
		return 0, 0, 0, errors.New("the step is not in block style")
	}
	return begin, end, column, blockStyle(lines[begin], column)
}

// findItem returns the lines of an item of the list whose key is in the line at, from begin to
// before end, and the column of its value. ok is whether the list has the item in block style.
func findItem(lines [][]byte, at, item int) (begin, end, column int, ok bool) {
	dash := -1
	n := -1
	for i := at + 1; i <= len(lines); i++ {
		if i < len(lines) && (blank(lines[i]) || bytes.HasPrefix(bytes.TrimLeft(lines[i], " "), []byte("#"))) {
			continue
		}
		isItem := i < len(lines) && bytes.HasPrefix(bytes.TrimLeft(lines[i], " "), []byte("- "))
		if dash < 0 && isItem {
			dash = indent(lines[i])
		}
		over := i == len(lines) || indent(lines[i]) < dash || indent(lines[i]) == dash && !isItem
		if isItem && indent(lines[i]) == dash || over {
			if n == item {
				return begin, i, column, true
			}
			n++
			begin = i
			if !over {
				column = dash + 1 + indent(lines[i][dash+1:])
			}
		}
		if over {
			break
		}
	}
	return 0, 0, 0, false
}

func blockStyle(line []byte, column int) error {
	if bytes.HasPrefix(line[column:], []byte("{")) {
		return errors.New("the step is not in block style")
	}
	return nil
}

func indent(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }

func blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
