package encryption

import "strings"

// A groupResource is a resource in the words of a rule. Each part may be "*".
type groupResource struct{ resource, group string }

// everything is the groupResource that includes all others.
var everything = groupResource{"*", "*"}

// parse returns the groupResource of "secrets", "deployments.apps", "*.apps", "*." or "*.*".
func parse(text string) groupResource {
	resource, group, _ := strings.Cut(text, ".")
	return groupResource{resource, group}
}

// String returns the text that is parsed as gr.
func (gr groupResource) String() string {
	if gr.group == "" && gr.resource != "*" {
		return gr.resource
	}
	return gr.resource + "." + gr.group
}
