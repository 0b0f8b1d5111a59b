package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// javascript returns the module control.js: a class with a method for each operation.
func javascript(d *document) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\n/** A client of the control endpoint. */\nexport class Control {\n  #send;\n\n", generated)
	b.WriteString("  constructor(send) {\n    this.#send = send;\n  }\n")
	for _, o := range d.operations() {
		param, query, body := "", "{}", "undefined"
		switch {
		case o.RequestBody != nil && d.body(o).OneOf != nil:
			param, body = "body", "body"
		case o.RequestBody != nil:
			param, body = "request = {}", "request"
		case o.Parameters != nil:
			param, query = "query = {}", "query"
		}
		fmt.Fprintf(&b, "\n  %s(%s) {\n    return this.#send('%s', '%s', %s, %s);\n  }\n", o.ID, param, o.method, o.path, query, body)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// typescript returns the types of control.js.
func typescript(d *document) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\n", generated)
	b.WriteString(`/** Sends a request to the control endpoint and returns the JSON of the answer. */
export type Send = (method: string, path: string, query: object, body: unknown) => Promise<any>;
`)
	for _, f := range d.Components.Schemas {
		if f.name == "Status" {
			continue
		}
		jsdoc(&b, "", f.value.Description)
		fmt.Fprintf(&b, "export interface %s {\n", f.name)
		for _, p := range f.value.Properties {
			jsdoc(&b, "  ", p.value.Description)
			fmt.Fprintf(&b, "  %s%s: %s;\n", p.name, optional(slices.Contains(f.value.Required, p.name)), typescriptName(p.value))
		}
		b.WriteString("}\n")
	}
	b.WriteString("\n/** A client of the control endpoint. */\nexport class Control {\n  constructor(send: Send);\n")
	for _, o := range d.operations() {
		b.WriteString("\n")
		jsdoc(&b, "  ", sentence(o.Summary))
		param := ""
		if o.RequestBody != nil {
			s := d.body(o)
			param = "request" + optional(len(s.Required) > 0) + ": " + typescriptName(o.RequestBody.Content[0].value.Schema)
			if s.OneOf != nil {
				param = "body: " + typescriptName(s)
			}
		} else if o.Parameters != nil {
			var fields []string
			for _, p := range o.Parameters {
				fields = append(fields, p.Name+"?: "+typescriptName(p.Schema))
			}
			param = "query?: { " + strings.Join(fields, "; ") + " }"
		}
		fmt.Fprintf(&b, "  %s(%s): Promise<%s>;\n", o.ID, param, typescriptName(o.answer()))
	}
	b.WriteString("}\n")
	return b.Bytes()
}

func optional(required bool) string {
	if required {
		return ""
	}
	return "?"
}

// jsdoc writes a comment.
func jsdoc(b *bytes.Buffer, indent, text string) {
	if indent == "" {
		b.WriteString("\n")
	}
	if text != "" {
		fmt.Fprintf(b, "%s/** %s */\n", indent, wrap(text, indent+" * "))
	}
}

// typescriptName returns the name of a type.
func typescriptName(s *schema) string {
	switch {
	case s.name() != "":
		return s.name()
	case s.OneOf != nil:
		var names []string
		for _, one := range s.OneOf {
			names = append(names, typescriptName(one))
		}
		return strings.Join(names, " | ")
	case s.Enum != nil:
		return "'" + strings.Join(s.Enum, "' | '") + "'"
	}
	switch s.Type {
	case "string", "boolean", "number":
		return s.Type
	case "integer":
		return "number"
	case "array":
		return typescriptName(s.Items) + "[]"
	case "object":
		if s.AdditionalProperties != nil {
			return "Record<string, " + typescriptName(s.AdditionalProperties) + ">"
		}
		return "Record<string, any>"
	}
	return "any"
}
