// Package yamlpath finds fields of objects in the text of YAML documents: by the paths that errors of
// Kubernetes have.
package yamlpath

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Position is a line and a column in the text of a document, from 1.
type Position struct{ Line, Column int }

// Find returns where a field of a document begins: the name of a member, or the element of a list.
// Each of the paths begins where the one before ends. If the document does not have the field, it is
// the closest field around it. Of a map or list, it is the entry that the message of an error
// quotes.
func Find(root *yaml.Node, message string, paths ...string) Position {
	s := search{at: Position{root.Line, root.Column}, node: root}
	for _, path := range paths {
		if s = s.resolve(path); s.rest != "" {
			return s.at
		}
	}
	return s.entry(message).at
}

// Where messages quote an entry of a map or list.
var (
	quotedValue   = regexp.MustCompile(`(?:Invalid|Unsupported|Duplicate) value: ("(?:[^"\\]|\\.)*"|-?\d+)`)
	duplicateKeys = regexp.MustCompile(`duplicate entries for key (\[.*\])$`)
)

// entry goes to the entry of a map or list that a message quotes: by its key or value, or the last of
// those with the same keys.
func (s search) entry(message string) search {
	node := resolved(s.node)
	if m := duplicateKeys.FindStringSubmatch(message); m != nil && node.Kind == yaml.SequenceNode {
		selector, _, _ := cutBracket(m[1])
		for i, e := range slices.Backward(node.Content) {
			if matches, _ := elementMatches(e, i, selector); matches {
				return search{node: e, at: Position{e.Line, e.Column}}
			}
		}
	}
	m := quotedValue.FindStringSubmatch(message)
	if m == nil {
		return s
	}
	value := unquoted(m[1])
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == value || node.Content[i+1].Kind == yaml.ScalarNode && node.Content[i+1].Value == value {
				return s.to(node, i, "")
			}
		}
	case yaml.SequenceNode:
		for _, e := range node.Content {
			if e.Kind == yaml.ScalarNode && e.Value == value {
				return search{node: e, at: Position{e.Line, e.Column}}
			}
		}
	}
	return s
}

// resolved returns the node for which an alias stands.
func resolved(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// A search is a state of the search for paths in a document: the node that it has reached, and the
// rest of the path, which the document does not have.
type search struct {
	node *yaml.Node
	at   Position // where its name or element begins
	rest string
}

// resolve follows a path as far as the node has it. Paths are those of validation errors
// (spec.containers[0].image, metadata.labels[a.b/c]), of typed values
// (.spec.containers[name="web"].image), and of encoding/json, which have no indices.
func (s search) resolve(path string) search {
	s.rest = strings.TrimPrefix(path, ".")
	for s.rest != "" {
		node := resolved(s.node)
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
	return search{node: node.Content[i+1], at: Position{key.Line, key.Column}, rest: strings.TrimPrefix(rest, ".")}
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
			m = resolved(m)
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
			if found := (search{node: e, at: Position{e.Line, e.Column}}).resolve(s.rest); found.rest == "" {
				return found, true
			}
		}
		return s, false
	}
	var maybe *yaml.Node
	for i, e := range node.Content {
		matches, sure := elementMatches(e, i, selector)
		if matches && (sure || maybe == nil) {
			maybe = e
		}
		if matches && sure {
			break
		}
	}
	if maybe == nil {
		return s, false
	}
	return search{node: maybe, at: Position{maybe.Line, maybe.Column}, rest: strings.TrimPrefix(rest, ".")}, true
}

// elementMatches reports whether a selector, such as 2, name="web" or ="value", means an element. It
// is not sure of an element that has none of the keys, as they may have defaults.
func elementMatches(e *yaml.Node, index int, selector string) (matches, sure bool) {
	if n, err := strconv.Atoi(selector); err == nil {
		return n == index, true
	}
	e = resolved(e)
	if value, ok := strings.CutPrefix(selector, "="); ok {
		return e.Kind == yaml.ScalarNode && e.Value == unquoted(value), true
	}
	if e.Kind != yaml.MappingNode {
		return e.Kind == yaml.ScalarNode && e.Value == unquoted(selector), true
	}
	has := map[string]string{}
	for i := 0; i+1 < len(e.Content); i += 2 {
		has[e.Content[i].Value] = e.Content[i+1].Value
	}
	for selector != "" {
		name, value, ok := strings.Cut(selector, "=")
		if !ok {
			return false, false
		}
		value, selector = cutValue(value)
		own, there := has[name]
		if there && own != value {
			return false, false
		}
		sure = sure || there
	}
	return true, sure
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
