package openapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// memberOrder is the order in which kube-apiserver writes the members of the
// objects of OpenAPI documents. Members with other names, such as extensions,
// come last and are sorted.
var memberOrder = func() map[string]int {
	order := map[string]int{}
	for i, name := range strings.Fields(`
		openapi info paths components
		get put post delete options head patch
		tags summary name in description operationId parameters requestBody responses
		content id type nullable format title default maximum exclusiveMaximum minimum exclusiveMinimum
		maxLength minLength pattern maxItems minItems uniqueItems multipleOf enum maxProperties minProperties
		required schema items allOf oneOf anyOf not properties additionalProperties patternProperties
		dependencies additionalItems definitions discriminator readOnly externalDocs example $schema $ref`) {
		order[name] = i
	}
	return order
}()

// byName are the members that are objects whose members can have any name. They
// are sorted.
var byName = map[string]bool{
	"paths": true, "schemas": true, "responses": true, "content": true, "properties": true,
	"patternProperties": true, "dependencies": true, "definitions": true, "parameters": true,
}

// freeForm are the members whose values are not part of the OpenAPI document.
var freeForm = map[string]bool{"default": true, "enum": true, "example": true}

// AppendDocument appends a version 3 document as JSON, with the order of members
// and the escapes of kube-apiserver.
func AppendDocument(dst []byte, document map[string]any) ([]byte, error) {
	start := len(dst)
	dst, err := encoder{version3: true}.appendObject(dst, document, false)
	if err != nil {
		return nil, err
	}
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, dst[start:])
	return append(dst[:start], escaped.Bytes()...), nil
}

// An encoder encodes values of OpenAPI documents as JSON.
type encoder struct {
	version3 bool // lists validation rules as version 3 does
}

// appendValue appends a schema or another value of a document.
func (e encoder) appendValue(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case map[string]any:
		return e.appendObject(dst, v, false)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = e.appendValue(dst, item); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	}
	return appendJSON(dst, v)
}

// appendObject appends an object. If named is true, its members can have any
// name.
func (e encoder) appendObject(dst []byte, object map[string]any, named bool) ([]byte, error) {
	names := slices.Sorted(maps.Keys(object))
	if !named {
		slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	}
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendJSON(dst, name); err != nil {
			return nil, err
		}
		dst = append(dst, ':')
		value := object[name]
		members, isObject := value.(map[string]any)
		switch {
		case named || !freeForm[name] && !strings.HasPrefix(name, "x-"):
			if isObject {
				dst, err = e.appendObject(dst, members, !named && byName[name])
			} else {
				dst, err = e.appendValue(dst, value)
			}
		case isObject && name == kindExtension:
			dst, err = appendJSON(dst, groupVersionKind{members["group"], members["version"], members["kind"]})
		case e.version3 && name == "x-kubernetes-validations":
			dst, err = appendRules(dst, value)
		default:
			dst, err = appendJSON(dst, value)
		}
		if err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// appendRules appends the validation rules of a schema.
func appendRules(dst []byte, list any) ([]byte, error) {
	items, _ := list.([]any)
	rules := make([]validationRule, len(items))
	for i, item := range items {
		rule, _ := item.(map[string]any)
		rules[i] = validationRule{rule["rule"], rule["message"], rule["messageExpression"], rule["reason"], rule["fieldPath"], rule["optionalOldSelf"]}
	}
	return appendJSON(dst, rules)
}

// place returns the place of a member among others.
func place(name string) int {
	if i, ok := memberOrder[name]; ok {
		return i
	}
	return len(memberOrder)
}

// kindExtension names the kind of an operation, or the kinds of a schema.
const kindExtension = "x-kubernetes-group-version-kind"

// groupVersionKind is the kind of an operation in the order of version 3.
type groupVersionKind struct {
	Group   any `json:"group"`
	Version any `json:"version"`
	Kind    any `json:"kind"`
}

// validationRule is a rule of x-kubernetes-validations in the order of version 3.
type validationRule struct {
	Rule              any `json:"rule"`
	Message           any `json:"message,omitempty"`
	MessageExpression any `json:"messageExpression,omitempty"`
	Reason            any `json:"reason,omitempty"`
	FieldPath         any `json:"fieldPath,omitempty"`
	OptionalOldSelf   any `json:"optionalOldSelf,omitempty"`
}

// appendJSON appends a value as JSON that keeps <, > and &.
func appendJSON(dst []byte, v any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
