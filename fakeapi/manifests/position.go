package manifests

import (
	"bytes"

	"go.yaml.in/yaml/v3"

	"github.com/kubefake/kubefake/internal/yamlpath"
)

// A locator finds the fields of the objects of a document. It parses the document when it is first
// asked.
type locator struct {
	*document
	parsed bool
	root   *yaml.Node // nil if the document cannot be parsed
}

// object returns where an object of the document begins.
func (l *locator) object(item string) yamlpath.Position {
	if item == "" {
		text := l.text[:contentOffset(l.text)]
		return yamlpath.Position{Line: 1 + bytes.Count(text, []byte("\n")), Column: 1}
	}
	return l.field(item, "", "")
}

// field returns where a field of an object begins: the name of a member, or the element of a list.
// If the object does not have it, it is the closest field around it. Of a map or list, it is the
// entry that the message of an error quotes.
func (l *locator) field(item, field, message string) yamlpath.Position {
	root := l.node()
	if root == nil {
		return yamlpath.Position{Line: 1, Column: 1}
	}
	return yamlpath.Find(root, message, item, field)
}

func (l *locator) node() *yaml.Node {
	if l.parsed {
		return l.root
	}
	l.parsed = true
	var doc yaml.Node
	if yaml.Unmarshal(l.yaml(), &doc) == nil && len(doc.Content) > 0 {
		l.root = doc.Content[0]
	}
	return l.root
}

// duplicateKey returns the first key below a node that its mapping has before, nil if there is none.
func duplicateKey(node *yaml.Node) *yaml.Node {
	if node == nil {
		return nil
	}
	seen := map[string]bool{}
	for i, c := range node.Content {
		if isKey := node.Kind == yaml.MappingNode && i%2 == 0; isKey && c.Kind == yaml.ScalarNode && c.Tag != "!!merge" {
			if seen[c.Value] {
				return c
			}
			seen[c.Value] = true
		}
		if key := duplicateKey(c); key != nil {
			return key
		}
	}
	return nil
}
