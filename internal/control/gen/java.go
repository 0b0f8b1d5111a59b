package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// java returns the class Control: a method for each operation, and a class for each type
// of the document. Types of requests have setters, types of answers have getters.
func java(d *document) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\npackage io.github.kubefake;\n", generated)
	b.WriteString(`
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The requests of the control endpoint, and the types of their answers. A field that a type does
 * not have is the zero value of its type: 0, false, an empty string or list.
 */
public final class Control {
  /** Sends a request to the control endpoint, and returns the JSON of the answer. */
  interface Send {
    Object send(String method, String path, Map<String, Object> query, Object body);
  }

  private final Send send;

  Control(Send send) {
    this.send = send;
  }

  private Object send(String method, String path, Map<String, Object> query, Object body) {
    return send.send(method, path, query, body);
  }

  private static Map<String, Object> query(Object... fields) {
    Map<String, Object> out = new LinkedHashMap<>();
    for (int i = 0; i < fields.length; i += 2) {
      if (fields[i + 1] != null) {
        out.put((String) fields[i], fields[i + 1]);
      }
    }
    return out;
  }
`)
	for _, o := range d.operations() {
		javaMethod(&b, d, o)
	}
	requests, answers := d.used()
	for _, f := range d.Components.Schemas {
		if f.name != "Status" {
			javaType(&b, f.name, f.value, requests[f.name], answers[f.name])
		}
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// used returns the names of the schemas that requests have, and of those that answers have.
func (d *document) used() (requests, answers map[string]bool) {
	requests, answers = map[string]bool{}, map[string]bool{}
	for _, o := range d.operations() {
		if o.RequestBody != nil {
			d.visit(o.RequestBody.Content[0].value.Schema, requests)
		}
		d.visit(o.answer(), answers)
	}
	return requests, answers
}

// visit adds the names of the schemas that s refers to.
func (d *document) visit(s *schema, names map[string]bool) {
	if s == nil || names[s.name()] {
		return
	}
	if s.name() != "" {
		names[s.name()] = true
		s = d.resolve(s)
	}
	d.visit(s.Items, names)
	d.visit(s.AdditionalProperties, names)
	for _, one := range s.OneOf {
		d.visit(one, names)
	}
	for _, p := range s.Properties {
		d.visit(p.value, names)
	}
}

// javaMethod writes the methods of an operation. A request without required fields may be
// omitted.
func javaMethod(b *bytes.Buffer, d *document, o *operation) {
	var params, query, absent []string
	body := "null"
	switch s := d.body(o); {
	case s != nil && s.OneOf != nil:
		params, body = []string{javaName(s.OneOf[0]) + "... body"}, "Arrays.asList(body)"
	case s != nil:
		params, body = []string{javaName(o.RequestBody.Content[0].value.Schema) + " request"}, "request"
		if s.Required == nil {
			absent = []string{"new " + strings.Fields(params[0])[0] + "()"}
		}
	}
	for _, p := range o.Parameters {
		if p.Schema.Type == "array" && len(o.Parameters) == 1 {
			params, query = []string{javaName(p.Schema.Items) + "... " + p.Name}, []string{fmt.Sprintf("%q, Arrays.asList(%s)", p.Name, p.Name)}
			break
		}
		query = append(query, fmt.Sprintf("%q, %s", p.Name, p.Name))
		params, absent = append(params, javaBoxed(p.Schema)+" "+p.Name), append(absent, "null")
	}
	method := func(params []string, statement string) {
		fmt.Fprintf(b, "\n")
		javadoc(b, "  ", sentence(o.Summary))
		fmt.Fprintf(b, "  public %s %s(%s) {\n    return %s;\n  }\n", javaName(o.answer()), o.ID, strings.Join(params, ", "), statement)
	}
	if absent != nil {
		method(nil, o.ID+"("+strings.Join(absent, ", ")+")")
	}
	send := fmt.Sprintf("send(%q, %q, query(%s), %s)", o.method, o.path, strings.Join(query, ", "), body)
	method(params, javaValue(o.answer(), send))
}

// javaType writes the class of a schema.
func javaType(b *bytes.Buffer, name string, s *schema, request, answer bool) {
	b.WriteString("\n")
	javadoc(b, "  ", s.Description)
	fmt.Fprintf(b, "  public static final class %s extends JsonObject {\n", name)
	if request {
		fmt.Fprintf(b, "    public %s() {}\n", name)
	}
	if answer {
		if request {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "    %s(Object fields) {\n      super(fields);\n    }\n", name)
	}
	for _, p := range s.Properties {
		if answer {
			b.WriteString("\n")
			javadoc(b, "    ", p.value.Description)
			get := fmt.Sprintf("get(%q)", p.name)
			fmt.Fprintf(b, "    public %s %s() {\n      return %s;\n    }\n", javaName(p.value), javaIdentifier(p.name), javaValue(p.value, get))
		}
		if request {
			b.WriteString("\n")
			javadoc(b, "    ", p.value.Description)
			id := javaIdentifier(p.name)
			param, value := javaName(p.value), id
			if p.value.Type == "array" {
				param, value = javaName(p.value.Items)+"...", "Arrays.asList("+id+")"
			}
			fmt.Fprintf(b, "    public %s %s(%s %s) {\n      set(%q, %s);\n      return this;\n    }\n", name, id, param, id, p.name, value)
		}
	}
	b.WriteString("  }\n")
}

// javaName returns the name of a type.
func javaName(s *schema) string {
	if s.name() != "" {
		return s.name()
	}
	switch s.Type {
	case "string":
		return "String"
	case "integer":
		return "long"
	case "number":
		return "double"
	case "boolean":
		return "boolean"
	case "array":
		return "List<" + javaBoxed(s.Items) + ">"
	case "object":
		if s.AdditionalProperties != nil {
			return "Map<String, " + javaBoxed(s.AdditionalProperties) + ">"
		}
		return "Map<String, Object>"
	}
	return "Object"
}

// javaBoxed returns the name of the class of a type.
func javaBoxed(s *schema) string {
	name := javaName(s)
	if boxed := map[string]string{"long": "Long", "double": "Double", "boolean": "Boolean"}[name]; boxed != "" {
		return boxed
	}
	return name
}

// javaValue returns an expression that converts a JSON value to the type of a schema.
func javaValue(s *schema, value string) string {
	convert := javaFunction(s)
	switch {
	case convert == "":
		return value
	case strings.HasSuffix(convert, "::new"):
		return "new " + strings.TrimSuffix(convert, "::new") + "(" + value + ")"
	case strings.Contains(convert, "("):
		return convert + ".apply(" + value + ")"
	}
	return strings.Replace(convert, "::", ".", 1) + "(" + value + ")"
}

// javaFunction returns the function that converts a JSON value to the type of a schema, "" if
// the value has the type already.
func javaFunction(s *schema) string {
	if s.name() != "" {
		return s.name() + "::new"
	}
	switch s.Type {
	case "string":
		return "Json::string"
	case "integer":
		return "Json::integer"
	case "number":
		return "Json::number"
	case "boolean":
		return "Json::bool"
	case "array":
		return "Json.list(" + cmp.Or(javaFunction(s.Items), "v -> v") + ")"
	case "object":
		if s.AdditionalProperties != nil {
			return "Json.map(" + cmp.Or(javaFunction(s.AdditionalProperties), "v -> v") + ")"
		}
		return "Json.map(v -> v)"
	}
	return ""
}

var javaKeywords = strings.Fields(`abstract assert boolean break byte case catch char class const continue default do double
	else enum extends false final finally float for goto if implements import instanceof int interface long native new null package
	private protected public return short static strictfp super switch synchronized this throw throws transient true try void
	volatile while`)

// javaIdentifier returns a name, with an underscore at its end if it is a keyword of Java.
func javaIdentifier(name string) string {
	if slices.Contains(javaKeywords, name) {
		return name + "_"
	}
	return name
}

// javadoc writes a comment.
func javadoc(b *bytes.Buffer, indent, text string) {
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "*/", "*&#47;", "@", "&#64;").Replace(text)
	if text != "" {
		fmt.Fprintf(b, "%s/** %s */\n", indent, wrap(text, indent+" * "))
	}
}
