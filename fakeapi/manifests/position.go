package manifests

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A position is a line and a column in the text of a document, from 1.
type position struct{ line, column int }

// A locator finds the fields of the objects of a document. It parses the document when it is first
// asked.
type locator struct {
	*document
	parsed bool
	root   *yaml.Node // nil if the document cannot be parsed
}

// object returns where an object of the document begins.
func (l *locator) object(item string) position {
	if item == "" {
		text := l.text[:contentOffset(l.text)]
		return position{1 + bytes.Count(text, []byte("\n")), 1}
	}
	at, _ := l.field(item, "")
	return at
}

// field returns where a field of an object begins: the name of a member, or the element of a list.
// If the object does not have it, it is the closest field around it, and found is false.
func (l *locator) field(item, field string) (at position, found bool) {
	root := l.node()
	if root == nil {
		return position{1, 1}, false
	}
	start := position{root.Line, root.Column}
	s := search{at: start, node: root}
	if item != "" {
		s = s.resolve(item)
	}
	if s.rest != "" {
		return s.at, false
	}
	s = s.resolve(field)
	return s.at, s.rest == ""
}

func (l *locator) node() *yaml.Node {
	if l.parsed {
		return l.root
	}
	l.parsed = true
	text := l.text
	if l.isJSON { // YAML has no tabs between tokens
		text = bytes.ReplaceAll(text, []byte("\t"), []byte(" "))
	}
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) == nil && len(doc.Content) > 0 {
		l.root = doc.Content[0]
	}
	return l.root
}

// A search is a state of the search for a path: the node that it has come to, where its name or
// element begins, and the rest of the path.
type search struct {
	node *yaml.Node
	at   position
	rest string
}

// resolve follows a path as far as the node has it. Paths are those of validation errors
// (spec.containers[0].image, metadata.labels[a.b/c]), of typed values
// (.spec.containers[name="web"].image), and of encoding/json, which have no indices.
func (s search) resolve(path string) search {
	s.rest = strings.TrimPrefix(path, ".")
	for s.rest != "" {
		node := s.node
		for node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		next, ok := s, false
		switch node.Kind {
		case yaml.MappingNode:
			next, ok = s.member(node)
		case yaml.SequenceNode:
			next, ok = s.element(node)
		}
		if !ok {
			return s
		}
		s = next
	}
	return s
}

// member goes to the member of a mapping with which the rest of the path begins.
func (s search) member(node *yaml.Node) (search, bool) {
	if key, rest, ok := cutBracket(s.rest); ok {
		if text, err := strconv.Unquote(key); err == nil {
			key = text
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == key {
				return s.to(node, i, rest), true
			}
		}
		return s.merged(node)
	}
	// Names may have dots: the longest one is meant.
	best := -1
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i].Value
		after, ok := strings.CutPrefix(s.rest, key)
		if ok && key != "" && (after == "" || after[0] == '.' || after[0] == '[') && (best < 0 || len(key) > len(node.Content[best].Value)) {
			best = i
		}
	}
	if best < 0 {
		return s.merged(node)
	}
	return s.to(node, best, s.rest[len(node.Content[best].Value):]), true
}

// to goes to a member of a mapping.
func (s search) to(node *yaml.Node, i int, rest string) search {
	key := node.Content[i]
	return search{node: node.Content[i+1], at: position{key.Line, key.Column}, rest: strings.TrimPrefix(rest, ".")}
}

// merged looks for the member in the mappings that the mapping merges.
func (s search) merged(node *yaml.Node) (search, bool) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Tag != "!!merge" {
			continue
		}
		from := []*yaml.Node{node.Content[i+1]}
		if from[0].Kind == yaml.SequenceNode {
			from = from[0].Content
		}
		for _, m := range from {
			if m.Kind == yaml.AliasNode {
				m = m.Alias
			}
			if m.Kind == yaml.MappingNode {
				if next, ok := s.member(m); ok {
					return next, true
				}
			}
		}
	}
	return s, false
}

// element goes to the element of a list with which the rest of the path begins.
func (s search) element(node *yaml.Node) (search, bool) {
	selector, rest, ok := cutBracket(s.rest)
	if !ok { // a path without indices
		for _, e := range node.Content {
			if found := (search{node: e, at: position{e.Line, e.Column}}).resolve(s.rest); found.rest == "" {
				return found, true
			}
		}
		return s, false
	}
	for i, e := range node.Content {
		if elementMatches(e, i, selector) {
			return search{node: e, at: position{e.Line, e.Column}, rest: strings.TrimPrefix(rest, ".")}, true
		}
	}
	return s, false
}

// elementMatches reports whether a selector, such as 2, name="web" or ="value", means an element.
func elementMatches(e *yaml.Node, index int, selector string) bool {
	if n, err := strconv.Atoi(selector); err == nil {
		return n == index
	}
	for e.Kind == yaml.AliasNode {
		e = e.Alias
	}
	if value, ok := strings.CutPrefix(selector, "="); ok {
		return e.Kind == yaml.ScalarNode && e.Value == unquoted(value)
	}
	if e.Kind != yaml.MappingNode {
		return e.Kind == yaml.ScalarNode && e.Value == unquoted(selector)
	}
	has := map[string]string{}
	for i := 0; i+1 < len(e.Content); i += 2 {
		has[e.Content[i].Value] = e.Content[i+1].Value
	}
	some := false
	for selector != "" {
		name, value, ok := strings.Cut(selector, "=")
		if !ok {
			return false
		}
		value, selector = cutValue(value)
		own, there := has[name]
		if there && own != value {
			return false // a key that is not there has its default
		}
		some = some || there
	}
	return some
}

// cutValue cuts a list of values, which may be quoted, after the first one.
func cutValue(text string) (value, rest string) {
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		return unquoted(quoted), strings.TrimPrefix(text[len(quoted):], ",")
	}
	value, rest, _ = strings.Cut(text, ",")
	return value, rest
}

func unquoted(text string) string {
	if s, err := strconv.Unquote(text); err == nil {
		return s
	}
	return text
}

// cutBracket cuts a path that begins with a bracket behind it.
func cutBracket(path string) (inside, rest string, ok bool) {
	if !strings.HasPrefix(path, "[") {
		return "", path, false
	}
	for i := 1; i < len(path); i++ {
		switch path[i] {
		case '"':
			quoted, err := strconv.QuotedPrefix(path[i:])
			if err != nil {
				continue
			}
			i += len(quoted) - 1
		case ']':
			return path[1:i], path[i+1:], true
		}
	}
	return "", path, false
}
