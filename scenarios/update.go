package scenarios

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// updating reports whether the test binary has a flag update that is set.
func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// Update writes into the file what the results of playing its scenarios say, in
// the place of what they contradict. What they agree with stays as it is:
// placeholders, comments, steps without want. Volatile values become
// placeholders. A want of {} is filled in.
//
// It fails, and leaves the file, where a scenario was not played to its end, an
// event did not come, or a step is not in block style.
func (f *File) Update(results ...*Result) error {
	text, err := f.revise(results)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if bytes.Equal(text, bytes.Join(f.documents, nil)) {
		return nil
	}
	return os.WriteFile(f.Name, text, 0o644)
}

// revise is the text of the file with the results in it.
func (f *File) revise(results []*Result) ([]byte, error) {
	docs := slices.Clone(f.documents)
	for _, r := range results {
		i := slices.Index(f.Scenarios, r.Scenario)
		if i < 0 {
			return nil, fmt.Errorf("%s is not of this file", r.Scenario)
		}
		doc, err := r.revise(docs[f.at[i]])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Scenario, err)
		}
		docs[f.at[i]] = doc
	}
	return bytes.Join(docs, nil), nil
}

// revise is the scenario's document with the result in it.
func (r *Result) revise(doc []byte) ([]byte, error) {
	if r.Err != nil {
		return nil, r.Err
	}
	revised := *r.Scenario
	revised.Steps = slices.Clone(r.Scenario.Steps)
	rv, err := newReviser(r)
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfter(doc, []byte("\n"))
	// From the end, so that lines before keep their numbers. Placeholders get
	// theirs from the beginning.
	edits := map[int]*Answer{}
	for i, s := range r.Steps {
		if len(s.Diffs) == 0 {
			continue
		}
		if n := len(s.Got.Events); n > 0 && s.Got.Events[n-1] == noEvent {
			return nil, fmt.Errorf("step %d (%s): an event did not come", i, s.Step)
		}
		edits[i] = rv.answer(s.Step, s.Got)
		revised.Steps[i].Want = edits[i]
	}
	for _, i := range slices.Backward(slices.Sorted(maps.Keys(edits))) {
		if lines, err = setWant(lines, i, edits[i]); err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
	}
	out := bytes.Join(lines, nil)
	return out, check(out, &revised)
}

// check makes sure that a document is the scenario.
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
		err = errors.New("its layout is not understood")
	}
	return err
}

// A reviser makes what was answered a want.
type reviser struct {
	*matcher
	last map[string]int // the greatest number of a class's placeholders
}

var numbered = regexp.MustCompile(`<(uid|rv):(\d+)>`)

func newReviser(r *Result) (*reviser, error) {
	text, err := marshal(r.Scenario)
	if err != nil {
		return nil, err
	}
	rv := &reviser{matcher: r.matcher.try(), last: map[string]int{}}
	for _, m := range numbered.FindAllStringSubmatch(string(text), -1) {
		if n, err := strconv.Atoi(m[2]); err == nil {
			rv.last[m[1]] = max(rv.last[m[1]], n)
		}
	}
	return rv, nil
}

// answer is the want of a step that agrees with what it got.
func (rv *reviser) answer(st *Step, got *Answer) *Answer {
	want := *st.Want
	rv.partial = st.Expect != ""
	want.Status = got.Status
	if rv.partial {
		want.Body = rv.value("", want.Body, got.Body)
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
	for _, w := range rv.list("", anys(st.Want.Warning), anys(got.Warning)) {
		want.Warning = append(want.Warning, w.(string))
	}
	want.Body = rv.value("", st.Want.Body, got.Body)
	want.Events = rv.list("", st.Want.Events, got.Events)
	return &want
}

// value is want where it agrees with got, and got where not. The key is that of
// the member that the value is of.
func (rv *reviser) value(key string, want, got any) any {
	trial := rv.try()
	var d differences
	trial.value("", want, got, &d)
	if len(d) == 0 {
		rv.adopt(trial)
		return want
	}
	switch g := got.(type) {
	case map[string]any:
		w, ok := want.(map[string]any)
		if !ok {
			w = nil
		}
		return rv.object(w, g)
	case []any:
		w, _ := want.([]any)
		return rv.list(key, w, g)
	case string:
		return rv.name(key, g)
	}
	return got
}

func (rv *reviser) object(want, got map[string]any) map[string]any {
	out := map[string]any{}
	for k, w := range want {
		if w == "<maybe>" {
			out[k] = w
		}
	}
	keys := slices.Sorted(maps.Keys(got))
	if _, isList := got["items"]; isList {
		// The version of a collection is named like the item that has it.
		slices.SortStableFunc(keys, func(a, b string) int { return strings.Compare(late(a), late(b)) })
	}
	for _, k := range keys {
		w, ok := want[k]
		if rv.partial && want != nil && !ok || w == "<maybe>" {
			continue
		}
		if !ok {
			w = missing{}
		}
		out[k] = rv.value(k, w, got[k])
	}
	return out
}

// late puts metadata behind other keys.
func late(key string) string {
	if key == "metadata" {
		return "\xff"
	}
	return ""
}

// missing stands for a value that want does not have; nothing agrees with it.
type missing struct{}

func (rv *reviser) list(key string, want, got []any) []any {
	var out []any
	for i, g := range got {
		var w any = missing{}
		if i < len(want) {
			w = want[i]
		}
		out = append(out, rv.value(key, w, g))
	}
	return out
}

// name is the placeholder of a value that is another one in every play.
func (rv *reviser) name(key, value string) string {
	key = key[strings.LastIndex(key, ".")+1:] // where only has flattened it
	class := ""
	switch {
	case uidPattern.MatchString(value):
		class = "uid"
	case key == "resourceVersion" && numberPattern.MatchString(value) && value != "0":
		class = "rv"
	case timePattern.MatchString(value):
		return "<time>"
	case key == "continue" && value != "":
		return "<continue>"
	default:
		return value
	}
	if p, ok := rv.taken[class+value]; ok {
		return p
	}
	rv.last[class]++
	p := fmt.Sprintf("<%s:%d>", class, rv.last[class])
	rv.bound[p], rv.taken[class+value] = value, p
	return p
}

// setWant puts a want into a document's lines, in the place of that of a step if
// it has one. It knows block style: the keys of a step stand in one column, and
// what belongs to a key right of it.
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
	for line := range bytes.Lines(text) {
		block = append(block, append(bytes.Repeat([]byte(" "), column), line...))
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
	// What stands above the next step, such as a comment, belongs to that.
	for end > begin+1 && (blank(lines[end-1]) || indent(lines[end-1]) < column) {
		end--
	}
	if last := lines[end-1]; !bytes.HasSuffix(last, []byte("\n")) {
		lines[end-1] = append(slices.Clone(last), '\n')
	}
	return slices.Concat(lines[:end], block, lines[end:]), nil
}

// findStep finds the lines of a step and the column of its keys.
func findStep(lines [][]byte, step int) (begin, end, column int, err error) {
	at := slices.IndexFunc(lines, func(l []byte) bool { return bytes.HasPrefix(l, []byte("steps:")) })
	if at < 0 {
		return 0, 0, 0, errors.New("steps is not in block style")
	}
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
			if n == step {
				return begin, i, column, blockStyle(lines[begin], column)
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
	return 0, 0, 0, errors.New("it is not in block style")
}

func blockStyle(line []byte, column int) error {
	if bytes.HasPrefix(line[column:], []byte("{")) {
		return errors.New("it is not in block style")
	}
	return nil
}

func indent(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }

func blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
