package fieldmanager

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
)

// A field set is encoded as a tree of objects, the FieldsV1 format. The name of
// a member is a step of a path: "f:" and the name of a field, "k:" and the keys
// of a map-list element as JSON, "v:" and the value of a set element as JSON. A
// path is in the set if the object of its last step is empty or has the member
// ".":
//
//	{"f:data": {".": {}, "f:a": {}}}    .data and .data.a

// self is the member that marks the path of a non-empty object as in the set.
const self = "."

// A fieldTree is a field set in the structure of its encoding. A tree that add makes may
// have its steps in any order, and a step twice; normalize sorts it. Normalized trees
// share what they have in common, and must not be changed.
type fieldTree []fieldStep

// A pathStep is a step of a path, as it is encoded.
type pathStep struct {
	text string

	// order is the position of a field in its struct by name, counted from 1. It is 0 for
	// other steps, and for fields whose names JSON escapes.
	order int32
}

// newFieldStep returns the step to the i-th field of a struct.
func newFieldStep(name string, i int) pathStep {
	s := pathStep{text: "f:" + name}
	if len(wire.AppendString(nil, name)) == len(name)+len(`""`) {
		s.order = int32(i) + 1
	}
	return s
}

// compare compares two steps of one tree.
func (s pathStep) compare(t pathStep) int {
	if s.order > 0 && t.order > 0 {
		return int(s.order - t.order)
	}
	return strings.Compare(s.text, t.text)
}

// A fieldStep is a step of a tree.
type fieldStep struct {
	pathStep
	member bool      // the path that ends with the step is in the set
	below  fieldTree // the paths that continue
}

// add adds a step: the path itself if member is true, and the paths below it.
// The tree takes ownership of below.
func (t *fieldTree) add(s pathStep, member bool, below fieldTree) {
	if member || len(below) > 0 {
		*t = append(*t, fieldStep{s, member, below})
	}
}

// remove removes a path and everything below it.
func (t *fieldTree) remove(path ...string) {
	i := t.index(path[0])
	if i < 0 {
		return
	}
	s := &(*t)[i]
	if len(path) > 1 {
		s.below.remove(path[1:]...)
	}
	if len(path) == 1 || len(s.below) == 0 && !s.member {
		*t = slices.Delete(*t, i, i+1)
	}
}

func (t *fieldTree) index(step string) int {
	return slices.IndexFunc(*t, func(s fieldStep) bool { return s.text == step })
}

// normalize returns the tree with its steps sorted and each of them once. It changes t.
func (t fieldTree) normalize() fieldTree {
	for i := range t {
		if s := &t[i]; len(s.below) > 0 {
			s.below = s.below.normalize()
		}
	}
	if len(t) < 2 {
		return t
	}
	t.sort()
	n := 1
	for i := 1; i < len(t); i++ {
		if s, last := &t[i], &t[n-1]; s.text == last.text {
			last.member = last.member || s.member
			last.below = last.below.union(s.below)
			continue
		}
		if n < i {
			t[n] = t[i]
		}
		n++
	}
	return t[:n]
}

// sort sorts the steps. Those with the same text keep their order.
func (t fieldTree) sort() {
	if len(t) > manySteps {
		slices.SortStableFunc(t, func(a, b fieldStep) int { return a.compare(b.pathStep) })
		return
	}
	for i := 1; i < len(t); i++ {
		s, to := t[i], i
		for ; to > 0 && s.compare(t[to-1].pathStep) < 0; to-- {
			t[to] = t[to-1]
		}
		if to < i {
			t[to] = s
		}
	}
}

// manySteps is the number of steps above which insertion sort takes long.
const manySteps = 32

// clone returns a copy.
func (t fieldTree) clone() fieldTree {
	out := slices.Clone(t)
	for i := range out {
		out[i].below = out[i].below.clone()
	}
	return out
}

// same reports whether two trees are the same in memory.
func (t fieldTree) same(u fieldTree) bool {
	return len(t) == len(u) && (len(t) == 0 || &t[0] == &u[0])
}

// union returns the paths of two normalized trees; t itself if it has all of them.
func (t fieldTree) union(u fieldTree) fieldTree {
	switch {
	case len(u) == 0:
		return t
	case len(t) == 0:
		return u
	}
	var out fieldTree // nil while it equals t[:i]
	i := 0
	for _, s := range u {
		from := i
		for i < len(t) && t[i].text < s.text {
			i++
		}
		if out != nil {
			out = append(out, t[from:i]...)
		}
		if i < len(t) && t[i].text == s.text {
			own := t[i]
			s.member, s.below = s.member || own.member, own.below.union(s.below)
			if out == nil && (s.member != own.member || !s.below.same(own.below)) {
				out = append(make(fieldTree, 0, len(t)+len(u)), t[:i]...)
			}
			i++
		} else if out == nil {
			out = append(make(fieldTree, 0, len(t)+len(u)), t[:i]...)
		}
		if out != nil {
			out = append(out, s)
		}
	}
	if out == nil {
		return t
	}
	return append(out, t[i:]...)
}

// minus returns the paths of a normalized tree that another has not; t itself if the
// other has none of them.
func (t fieldTree) minus(u fieldTree) fieldTree {
	if len(u) == 0 {
		return t
	}
	var out fieldTree // nil while it equals t[:i]
	changed := false
	for i, s := range t {
		for len(u) > 0 && u[0].text < s.text {
			u = u[1:]
		}
		left := s
		if len(u) > 0 && u[0].text == s.text {
			left.member = s.member && !u[0].member
			left.below = s.below.minus(u[0].below)
		}
		if !changed && (left.member != s.member || !left.below.same(s.below)) {
			changed = true
			out = append(make(fieldTree, 0, len(t)), t[:i]...)
		}
		if changed {
			out.add(left.pathStep, left.member, left.below)
		}
	}
	if changed {
		return out
	}
	return t
}

// subtract is minus that changes t.
func (t fieldTree) subtract(u fieldTree) fieldTree {
	n := 0
	for i := range t {
		s := &t[i]
		for len(u) > 0 && u[0].text < s.text {
			u = u[1:]
		}
		if len(u) > 0 && u[0].text == s.text {
			s.member = s.member && !u[0].member
			s.below = s.below.subtract(u[0].below)
		}
		if s.member || len(s.below) > 0 {
			t[n] = *s
			n++
		}
	}
	return t[:n]
}

// equal reports whether two normalized trees have the same paths.
func (t fieldTree) equal(u fieldTree) bool {
	if len(t) != len(u) {
		return false
	}
	for i := range t {
		a, b := &t[i], &u[i]
		if a.text != b.text || a.member != b.member || !a.below.equal(b.below) {
			return false
		}
	}
	return true
}

// append appends the encoding of a normalized tree.
func (t fieldTree) append(dst []byte) []byte { return append(t.appendMembers(append(dst, '{')), '}') }

// appendMembers appends the members of the object that encodes the tree.
func (t fieldTree) appendMembers(dst []byte) []byte {
	for i := range t {
		s := &t[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		if s.order > 0 {
			dst = append(dst, '"')
			dst = append(dst, s.text...)
			dst = append(dst, '"')
		} else {
			dst = wire.AppendString(dst, s.text)
		}
		switch {
		case len(s.below) == 0:
			dst = append(dst, ":{}"...)
			continue
		case s.member:
			dst = append(dst, `:{".":{},`...)
		default:
			dst = append(dst, ":{"...)
		}
		dst = append(s.below.appendMembers(dst), '}')
	}
	return dst
}

// A treeReader reads the encoding of a field set.
type treeReader struct {
	text  string
	at    int
	pacer *pacer
}

// errNoFieldSet is the error of a text that is not an object.FieldsV1.
var errNoFieldSet = errors.New("not a field set")

// decodeTree returns the field set of a fieldsV1, whose strings are parts of the text.
// It fails if p ends.
func decodeTree(text object.FieldsV1, p *pacer) (fieldTree, error) {
	r := treeReader{text: string(text), pacer: p}
	if !strings.HasPrefix(r.text, "{") {
		return nil, fmt.Errorf("expect an object, but found %T", text.Value())
	}
	tree, _, err := r.object()
	return tree, err
}

// object reads an object. It reports whether the path of the object is in the set.
func (r *treeReader) object() (tree fieldTree, member bool, err error) {
	r.at++ // the brace
	if r.skip('}') {
		return nil, true, nil
	}
	for {
		if err := r.pacer.step(); err != nil {
			return nil, false, err
		}
		text, err := r.step()
		if err != nil {
			return nil, false, err
		}
		switch {
		case text == self:
			member = true
			_, err = r.other()
		case strings.HasPrefix(r.text[r.at:], "{"):
			s := fieldStep{pathStep: pathStep{text: text}}
			s.below, s.member, err = r.object()
			tree = append(tree, s)
		default:
			var v any
			if v, err = r.other(); err == nil && v != nil {
				err = fmt.Errorf("expect { or n after %q, but found %T", text, v)
			}
			tree = append(tree, fieldStep{pathStep: pathStep{text: text}, member: true})
		}
		switch {
		case err != nil:
			return nil, false, err
		case r.skip('}'):
			return tree, member, nil
		case !r.skip(','):
			return nil, false, errNoFieldSet
		}
	}
}

// skip consumes a byte. It reports whether the byte was there.
func (r *treeReader) skip(c byte) bool {
	if r.at == len(r.text) || r.text[r.at] != c {
		return false
	}
	r.at++
	return true
}

// step reads the name of a member and the colon after it.
func (r *treeReader) step() (string, error) {
	rest := r.text[r.at:]
	end, escaped := 1, false
	for ; end < len(rest) && rest[end] != '"'; end++ {
		if rest[end] == '\\' {
			escaped = true
			end++
		}
	}
	if end >= len(rest) || rest[0] != '"' {
		return "", errNoFieldSet
	}
	r.at += end + 1
	if !r.skip(':') {
		return "", errNoFieldSet
	}
	if !escaped {
		return rest[1:end], nil
	}
	step, err := strconv.Unquote(rest[:end+1])
	if err != nil {
		return "", errNoFieldSet
	}
	return step, nil
}

// other reads any value.
func (r *treeReader) other() (any, error) {
	in := json.NewDecoder(strings.NewReader(r.text[r.at:]))
	var text json.RawMessage
	if in.Decode(&text) != nil {
		return nil, errNoFieldSet
	}
	r.at += int(in.InputOffset())
	return object.FieldsV1(text).Value(), nil
}
