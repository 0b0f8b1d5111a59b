package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// rust returns the module control: a struct with a method for each operation, and a
// struct for each type of the document.
func rust(d *document) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n", generated)
	b.WriteString(`//! The requests of the control endpoint, and the types of their answers.
//!
//! A field that a request or an answer does not have is the default of its type: 0, false, an
//! empty string or list.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{connection::Connection, Result};

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A client of the control endpoint.
#[derive(Clone, Debug)]
pub struct Control {
    pub(crate) connection: Connection,
}

impl Control {
`)
	for i, o := range d.operations() {
		if i > 0 {
			b.WriteString("\n")
		}
		rustMethod(&b, d, o)
	}
	b.WriteString("}\n")
	for _, f := range d.Components.Schemas {
		if f.name != "Status" {
			rustType(&b, f.name, f.value)
		}
	}
	return b.Bytes()
}

// rustMethod writes the method of an operation.
func rustMethod(b *bytes.Buffer, d *document, o *operation) {
	params, query, body := "", "&[]", "None::<&()>"
	switch s := d.body(o); {
	case s != nil && s.OneOf != nil:
		params, body = ", body: &["+rustName(s.OneOf[0])+"]", "Some(body)"
	case s != nil:
		params, body = ", request: &"+rustName(o.RequestBody.Content[0].value.Schema), "Some(request)"
	}
	var fields []string
	for _, p := range o.Parameters {
		name, typ := rustIdentifier(p.Name), "Option<&str>"
		switch p.Schema.Type {
		case "array":
			typ = "&[&str]"
		case "boolean":
			typ = "Option<bool>"
		}
		params += ", " + name + ": " + typ
		fields = append(fields, fmt.Sprintf("(%q, %s.iter().map(ToString::to_string).collect())", p.Name, name))
	}
	if fields != nil {
		query = "&[" + strings.Join(fields, ", ") + "]"
	}
	rustdoc(b, "    ", sentence(o.Summary))
	fmt.Fprintf(b, "    pub async fn %s(&self%s) -> Result<%s> {\n", rustIdentifier(o.ID), params, rustName(o.answer()))
	fmt.Fprintf(b, "        self.connection.send(%q, %q, %s, %s).await\n    }\n", o.method, o.path, query, body)
}

// rustType writes the struct of a schema.
func rustType(b *bytes.Buffer, name string, s *schema) {
	b.WriteString("\n")
	rustdoc(b, "", s.Description)
	derive := "Clone, Debug, Default, PartialEq, Serialize, Deserialize"
	fmt.Fprintf(b, "#[derive(%s)]\n#[serde(default)]\npub struct %s {\n", derive, name)
	for _, p := range s.Properties {
		rustdoc(b, "    ", p.value.Description)
		var serde []string
		id := rustIdentifier(p.name)
		if strings.TrimPrefix(id, "r#") != p.name {
			serde = append(serde, fmt.Sprintf("rename = %q", p.name))
		}
		if !slices.Contains(s.Required, p.name) {
			serde = append(serde, `skip_serializing_if = "is_default"`)
		}
		if serde != nil {
			fmt.Fprintf(b, "    #[serde(%s)]\n", strings.Join(serde, ", "))
		}
		fmt.Fprintf(b, "    pub %s: %s,\n", id, rustName(p.value))
	}
	b.WriteString("}\n")
}

// rustName returns the name of a type.
func rustName(s *schema) string {
	if s.name() != "" {
		return s.name()
	}
	switch s.Type {
	case "string":
		return "String"
	case "integer":
		return "i64"
	case "number":
		return "f64"
	case "boolean":
		return "bool"
	case "array":
		return "Vec<" + rustName(s.Items) + ">"
	case "object":
		if s.AdditionalProperties != nil {
			return "BTreeMap<String, " + rustName(s.AdditionalProperties) + ">"
		}
	}
	return "Value"
}

var rustKeywords = strings.Fields(`as async await break const continue do dyn else enum extern false fn for gen if impl in let
	loop match mod move mut pub ref return static struct trait true type unsafe use where while`)

// rustIdentifier returns a name as Rust writes it.
func rustIdentifier(name string) string {
	if slices.Contains(rustKeywords, name) {
		return "r#" + name
	}
	return strings.ToLower(capital.ReplaceAllString(strings.ReplaceAll(name, "API", "Api"), "${1}_$2"))
}

// rustdoc writes a comment.
func rustdoc(b *bytes.Buffer, indent, text string) {
	if text != "" {
		fmt.Fprintf(b, "%s/// %s\n", indent, wrap(strings.NewReplacer("[", `\[`, "]", `\]`, "<", `\<`).Replace(text), indent+"/// "))
	}
}
