package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

func TestDefinitionCheck(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status bool
		schema string
		want   []string
	}{
		{"subschemas without type", false, `{type: object, properties: {a: {}, l: {type: array}, m: {type: object, additionalProperties: {}}, i: {type: array, items: {}}}}`, []string{
			`s.properties[a].type: Required value: must not be empty for specified object fields`,
			`s.properties[i].items.type: Required value: must not be empty for specified array items`,
			`s.properties[l].items: Required value: must be specified`,
			`s.properties[m].additionalProperties.type: Required value: must not be empty for specified object fields`,
		}},
		{"root is not an object", false, `{type: string}`, []string{
			`s.type: Invalid value: "string": must be object at the root`,
		}},
		{"empty", false, `{}`, []string{
			`s.type: Required value: must not be empty at the root`,
		}},
		{"map at the root", false, `{type: object, additionalProperties: {type: string}}`, []string{
			`s.additionalProperties: Forbidden: must not be used at the root`,
		}},
		{"nullable root", false, `{type: object, nullable: true}`, []string{
			`s.nullable: Forbidden: nullable cannot be true at the root`,
		}},
		{"unknown types", false, `{type: object, properties: {x: {type: text}, y: {type: "null"}}}`, []string{
			`s.properties[true].type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"`,
			`s.properties[true].type: Forbidden: type cannot be set to null, use nullable as an alternative`,
			`s.properties[x].type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`,
		}},
		{"type within a logical junctor", false, `{type: object, properties: {spec: {type: object, properties: {a: {type: string}}, anyOf: [{properties: {a: {type: string}}}]}}}`, []string{
			`s.properties[spec].anyOf[0].properties[a].type: Forbidden: must be empty to be structural`,
		}},
		{"structural keywords within a logical junctor", false, `{type: object, properties: {spec: {type: object, properties: {a: {type: string}}, not: {properties: {a: {default: x, title: t, description: d, nullable: true, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: true, x-kubernetes-int-or-string: true, x-kubernetes-list-type: atomic, x-kubernetes-map-type: atomic, x-kubernetes-list-map-keys: [a], x-kubernetes-validations: [{rule: "true"}]}}}}}}`, []string{
			`s.properties[spec].not.properties[a].default: Forbidden: must be undefined to be structural`,
			`s.properties[spec].not.properties[a].description: Forbidden: must be empty to be structural`,
			`s.properties[spec].not.properties[a].nullable: Forbidden: must be false to be structural`,
			`s.properties[spec].not.properties[a].title: Forbidden: must be empty to be structural`,
			`s.properties[spec].not.properties[a].x-kubernetes-embedded-resource: Forbidden: must be false to be structural`,
			`s.properties[spec].not.properties[a].x-kubernetes-int-or-string: Forbidden: must be false to be structural`,
			`s.properties[spec].not.properties[a].x-kubernetes-list-map-keys: Forbidden: must be empty to be structural`,
			`s.properties[spec].not.properties[a].x-kubernetes-list-type: Forbidden: must be undefined to be structural`,
			`s.properties[spec].not.properties[a].x-kubernetes-map-type: Forbidden: must be undefined to be structural`,
			`s.properties[spec].not.properties[a].x-kubernetes-preserve-unknown-fields: Forbidden: must be false to be structural`,
			`s.properties[spec].not.properties[a].x-kubernetes-validations: Forbidden: must be empty to be structural`,
			`s.properties[spec].not.properties[a].type: Required value: must be object if x-kubernetes-map-type is specified`,
			`s.properties[spec].not.properties[a].type: Required value: must be array if x-kubernetes-list-type is specified`,
			`s.properties[spec].not.properties[a].x-kubernetes-list-type: Invalid value: "atomic": must be map if x-kubernetes-list-map-keys is non-empty`,
		}},
		{"empty defaults within logical junctors", false, `{type: object, properties: {spec: {type: object, allOf: [{default: {}}, {default: false}, {default: null}]}}}`, []string{
			`s.properties[spec].allOf[0].default: Forbidden: must be undefined to be structural`,
			`s.properties[spec].allOf[1].default: Forbidden: must be undefined to be structural`,
		}},
		{"structure incomplete outside of logical junctors", false, `{type: object, properties: {spec: {type: object, oneOf: [{additionalProperties: {type: string}}, {additionalProperties: true}, {additionalProperties: false}, {required: [a], properties: {b: {minLength: 1}}}, {items: {minLength: 1}}]}}}`, []string{
			`s.properties[spec].oneOf[0].additionalProperties: Forbidden: must be undefined to be structural`,
			`s.properties[spec].oneOf[1].additionalProperties: Forbidden: must be undefined to be structural`,
		}},
		{"metadata within a logical junctor", false, `{type: object, anyOf: [{properties: {metadata: {minProperties: 1}}}]}`, []string{
			`s.anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context`,
			`s.properties[metadata]: Required value: because it is defined in s.anyOf[0].properties[metadata]`,
		}},
		{"unsupported keywords", false, `{type: object, properties: {a: {$ref: x}, b: {id: y}, c: {patternProperties: {a: {type: string}}}, d: {definitions: {x: {type: string}}}, e: {dependencies: {x: {type: string}}}}}`, []string{
			`s.properties[a].$ref: Forbidden: $ref is not supported`,
			`s.properties[b].id: Forbidden: id is not supported`,
			`s.properties[c].patternProperties: Forbidden: patternProperties is not supported`,
			`s.properties[d].definitions: Forbidden: definitions is not supported`,
			`s.properties[e].dependencies: Forbidden: dependencies is not supported`,
		}},
		{"unsupported keywords without schemas", false, `{type: object, properties: {a: {type: object, patternProperties: {}}, b: {type: object, definitions: {}}, c: {type: object, dependencies: {}}}}`, []string{
			`s.properties[c].dependencies: Forbidden: dependencies is not supported`,
		}},
		{"unsupported keyword at the root", false, `{type: object, id: x}`, []string{
			`s.id: Forbidden: id is not supported`,
		}},
		{"mutually exclusive keywords", false, `{type: object, properties: {a: {type: array, uniqueItems: true, items: {type: string}}, b: {type: object, properties: {c: {type: string}}, additionalProperties: {type: string}}, c: {type: object, properties: {c: {type: string}}, additionalProperties: true}, d: {type: object, properties: {c: {type: string}}, additionalProperties: false}}}`, []string{
			`s.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
			`s.properties[b].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
			`s.properties[d].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
		}},
		{"items as a list", false, `{type: object, properties: {a: {type: array, items: [{type: string}]}}}`, []string{
			`s.properties[a].items: Forbidden: items must be a schema object and not an array`,
		}},
		{"list of type map with items as a list", false, `{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: [{type: string}]}}}`, []string{
			`s.properties[a].items: Forbidden: items must be a schema object and not an array`,
			`s.properties[a].items: Invalid value: {"Schema":null,"JSONSchemas":[{"ID":"","Schema":"","Ref":null,"Description":"","Type":"string","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":null,"MaxProperties":null,"MinProperties":null,"Required":null,"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,"Not":null,"Properties":null,"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":null}]}: must only have a single schema if x-kubernetes-list-type is map`,
		}},
		{"invalid pattern", false, `{type: object, properties: {a: {type: string, pattern: "(["}}}`, []string{
			"s.properties[a].pattern: Invalid value: \"([\": must be a valid regular expression, but isn't: error parsing regexp: missing closing ]: `[`",
		}},
		{"name in metadata", false, `{type: object, properties: {metadata: {type: object, properties: {name: {type: string}}}}}`, nil},
		{"description of metadata", false, `{type: object, properties: {metadata: {type: object, description: x}}}`, []string{
			`s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
		}},
		{"labels in metadata", false, `{type: object, properties: {metadata: {type: object, properties: {name: {type: string}, labels: {type: object}}}}}`, []string{
			`s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
		}},
		{"types of metadata", false, `{type: object, properties: {metadata: {type: string}, kind: {type: integer}, apiVersion: {type: object}}}`, []string{
			`s.properties[apiVersion].type: Invalid value: "object": must be string`,
			`s.properties[kind].type: Invalid value: "integer": must be string`,
			`s.properties[metadata].type: Invalid value: "string": must be object`,
		}},
		{"defaults in metadata", false, `{type: object, properties: {metadata: {type: object, properties: {name: {type: string, default: x}}, default: {}}, kind: {type: string, default: k}}}`, []string{
			`s.properties[kind].default: Forbidden: must not be set in top-level kind`,
			`s.properties[metadata].default: Forbidden: must not be set in top-level metadata`,
			`s.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata`,
		}},
		{"embedded resource without properties", false, `{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true}}}`, []string{
			`s.properties[e].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
		}},
		{"types of embedded resources", false, `{type: object, properties: {e: {x-kubernetes-embedded-resource: true}, f: {type: string, x-kubernetes-embedded-resource: true}, g: {type: object, x-kubernetes-embedded-resource: true, additionalProperties: {type: string}, x-kubernetes-preserve-unknown-fields: true}}}`, []string{
			`s.properties[e].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
			`s.properties[e].type: Required value: must be object if x-kubernetes-embedded-resource is true`,
			`s.properties[f].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
			`s.properties[f].type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true`,
			`s.properties[g].additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set`,
		}},
		{"embedded within metadata", false, `{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, x-kubernetes-embedded-resource: true, properties: {a: {type: string}}}, kind: {type: integer}}}}}`, []string{
			`s.properties[e].properties[kind].type: Invalid value: "integer": must be string`,
			`s.properties[e].properties[metadata].x-kubernetes-embedded-resource: Forbidden: must not be used inside of resource meta`,
		}},
		{"int-or-string with other extensions", false, `{type: object, properties: {e: {x-kubernetes-int-or-string: true, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: true}}}`, []string{
			`s.properties[e].type: Required value: must be object if x-kubernetes-embedded-resource is true`,
			`s.properties[e].x-kubernetes-embedded-resource: Invalid value: true: must be false if x-kubernetes-int-or-string is true`,
			`s.properties[e].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true`,
		}},
		{"x-kubernetes-preserve-unknown-fields false", false, `{type: object, properties: {e: {x-kubernetes-preserve-unknown-fields: false, type: object}}}`, []string{
			`s.properties[e].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`,
		}},
		{"int-or-string within logical junctors", false, `{type: object, properties: {e: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}, f: {x-kubernetes-int-or-string: true, allOf: [{anyOf: [{type: integer}, {type: string}]}, {maximum: 5}]}, g: {x-kubernetes-int-or-string: true, anyOf: [{type: string}, {type: integer}]}, h: {x-kubernetes-int-or-string: true, allOf: [{maximum: 5}, {anyOf: [{type: integer}, {type: string}]}]}}}`, []string{
			`s.properties[g].anyOf[0].type: Forbidden: must be empty to be structural`,
			`s.properties[g].anyOf[1].type: Forbidden: must be empty to be structural`,
			`s.properties[h].allOf[1].anyOf[0].type: Forbidden: must be empty to be structural`,
			`s.properties[h].allOf[1].anyOf[1].type: Forbidden: must be empty to be structural`,
		}},
		{"list and map types", false, `{type: object, properties: {a: {type: object, x-kubernetes-list-type: set}, b: {x-kubernetes-preserve-unknown-fields: true, x-kubernetes-list-type: set}, c: {type: array, x-kubernetes-list-type: other, items: {type: string}}, d: {type: array, x-kubernetes-map-type: atomic, items: {type: string}}, e: {type: object, x-kubernetes-map-type: other}}}`, []string{
			`s.properties[a].type: Invalid value: "object": must be array if x-kubernetes-list-type is specified`,
			`s.properties[b].type: Required value: must be array if x-kubernetes-list-type is specified`,
			`s.properties[c].x-kubernetes-list-type: Unsupported value: "other": supported values: "atomic", "set", "map"`,
			`s.properties[d].type: Invalid value: "array": must be object if x-kubernetes-map-type is specified`,
			`s.properties[e].x-kubernetes-map-type: Unsupported value: "other": supported values: "atomic", "granular"`,
		}},
		{"items of sets", false, `{type: object, properties: {a: {type: array, x-kubernetes-list-type: set, items: {type: object}}, b: {type: array, x-kubernetes-list-type: set, items: {type: array, x-kubernetes-list-type: set, items: {type: string}}}, c: {type: array, x-kubernetes-list-type: set, items: {type: object, x-kubernetes-map-type: granular}}, d: {type: array, x-kubernetes-list-type: set, items: {type: string, nullable: true}}}}`, []string{
			`s.properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`,
			`s.properties[b].items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set`,
			`s.properties[c].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`,
			`s.properties[d].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set`,
		}},
		{"lists of type map", false, `{type: object, properties: {a: {type: array, x-kubernetes-list-map-keys: [a], items: {type: object, properties: {a: {type: string}}}}, b: {type: array, x-kubernetes-list-type: set, x-kubernetes-list-map-keys: [a], items: {type: string}}, c: {type: array, x-kubernetes-list-type: map, items: {type: object, properties: {a: {type: string}}}}, d: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]}, e: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: string}}, f: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b, a, c], items: {type: object, nullable: true, required: [a], properties: {a: {type: string}, c: {type: object, nullable: true}}}}}}`, []string{
			`s.properties[d].items: Required value: must be specified`,
			`s.properties[a].x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty`,
			`s.properties[b].x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty`,
			`s.properties[c].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
			`s.properties[d].items: Required value: must have a schema if x-kubernetes-list-type is map`,
			`s.properties[e].items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`,
			`s.properties[f].x-kubernetes-list-map-keys: Invalid value: ["a","b","a","c"]: entries must all be names of item properties`,
			`s.properties[f].x-kubernetes-list-map-keys: Invalid value: ["a","b","a","c"]: must not contain duplicate entries`,
			`s.properties[f].items.properties[c].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map`,
			`s.properties[f].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map`,
			`s.properties[f].items.properties[c].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
			`s.properties[f].items.properties[c].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable`,
		}},
		{"rule fields", false, `{type: object, properties: {spec: {type: object, x-kubernetes-validations: [{rule: " "}, {rule: "true", message: " "}, {rule: "true", message: "a\nb"}, {rule: "true\n"}, {rule: "true\n || true"}, {rule: "true", messageExpression: " "}, {rule: "true", reason: Nope}, {rule: "true", fieldPath: " "}, {rule: "true", fieldPath: ".a\n"}, {rule: "true", fieldPath: ".b"}, {rule: "true", fieldPath: ".m['x']"}, {rule: "true", fieldPath: ".a"}], properties: {a: {type: string}, m: {type: object, additionalProperties: {type: string}}}}}}`, []string{
			`s.properties[spec].x-kubernetes-validations[0].rule: Required value: rule is not specified`,
			`s.properties[spec].x-kubernetes-validations[1].message: Invalid value: " ": must be non-empty if specified`,
			`s.properties[spec].x-kubernetes-validations[2].message: Invalid value: "a\nb": must not contain line breaks`,
			`s.properties[spec].x-kubernetes-validations[4].message: Required value: message must be specified if rule contains line breaks`,
			`s.properties[spec].x-kubernetes-validations[5].messageExpression: Required value: messageExpression must be non-empty if specified`,
			`s.properties[spec].x-kubernetes-validations[6].reason: Unsupported value: "Nope": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
			`s.properties[spec].x-kubernetes-validations[7].fieldPath: Invalid value: " ": must be non-empty if specified`,
			`s.properties[spec].x-kubernetes-validations[7].fieldPath: Invalid value: " ": must be a valid path`,
			`s.properties[spec].x-kubernetes-validations[8].fieldPath: Invalid value: ".a\n": must not contain line breaks`,
			`s.properties[spec].x-kubernetes-validations[8].fieldPath: Invalid value: ".a\n": must be a valid path`,
			`s.properties[spec].x-kubernetes-validations[9].fieldPath: Invalid value: ".b": must be a valid path`,
		}},
		{"defaults", false, `{type: object, properties: {spec: {type: object, default: {a: 1, zz: 2}, properties: {a: {type: integer, default: x}, b: {type: string, enum: [p, q], default: r}, c: {type: string, maxLength: 2, default: abc}, d: {type: object, default: {x: {}}, additionalProperties: {type: object}}, e: {x-kubernetes-int-or-string: true, default: true}, f: {type: array, default: [1, a], items: {type: integer}}, g: {type: string, format: date, default: x}, h: {type: string, nullable: true, default: null}}}}}`, []string{
			`s.properties[spec].default: Invalid value: {"a":1,"zz":2}: must not have unknown fields`,
			`s.properties[spec].properties[a].default: Invalid value: "string":  in body must be of type integer: "string"`,
			`s.properties[spec].properties[b].default: Unsupported value: "r": supported values: "p", "q"`,
			`s.properties[spec].properties[c].default: Too long: may not be more than 2 bytes`,
			`s.properties[spec].properties[f].default.[1]: Invalid value: "string": [1] in body must be of type integer: "string"`,
			`s.properties[spec].properties[g].default: Invalid value: "x":  in body must be of type date: "x"`,
		}},
		{"defaults of embedded resources", false, `{type: object, properties: {spec: {type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, default: {a: 1}}, f: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, default: {apiVersion: a/b/c, kind: 1, metadata: {name: 5}}}, g: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, default: {apiVersion: v1, kind: K, metadata: {name: a/b, foo: x}}}, h: {type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, properties: {name: {type: string, default: a/b}, labels: {type: object, default: {a: 1}, additionalProperties: {type: string, default: x}}}}, kind: {type: string, default: ""}}}}}}}`, []string{
			`s.properties[spec].properties[e].default.apiVersion: Required value`,
			`s.properties[spec].properties[e].default.kind: Required value`,
			`s.properties[spec].properties[f].default.kind: Invalid value: 1: must be a string`,
			`s.properties[spec].properties[g].default.metadata.name: Invalid value: "a/b": may not contain '/'`,
			`s.properties[spec].properties[h].properties[kind].default: Invalid value: "": must result in valid metadata: kind: Invalid value: "": must not be empty`,
			`s.properties[spec].properties[h].properties[metadata].properties[labels].default: Invalid value: {"a":1}: must result in valid metadata: metadata: Invalid value: {"labels":{"a":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string`,
			`s.properties[spec].properties[h].properties[metadata].properties[name].default: Invalid value: "a/b": must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain '/'`,
			`s.properties[spec].properties[h].properties[metadata].properties[labels].additionalProperties.default: Forbidden: must not be set inside additionalProperties applying to object metadata`,
		}},
		{"root with status subresource", true, `{type: object, maxProperties: 3, properties: {a: {type: string, enum: [x]}}}`, []string{
			`s: Invalid value: {"ID":"","Schema":"","Ref":null,"Description":"","Type":"object","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":null,"MaxProperties":3,"MinProperties":null,"Required":null,"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,"Not":null,"Properties":{"a":{"ID":"","Schema":"","Ref":null,"Description":"","Type":"string","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":["x"],"MaxProperties":null,"MinProperties":null,"Required":null,"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,"Not":null,"Properties":null,"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":null}},"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":null}: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled`,
		}},
		{"all keywords of a root with status subresource", true, `{type: object, enum: [{}], allOf: [{required: [a], not: {maxLength: 1}}], properties: {a: {type: array, items: {type: number, maximum: 1.5}, externalDocs: {url: x}}, b: {type: object, additionalProperties: {type: string, default: x, example: {a: 1}}}, c: {type: object, additionalProperties: true, x-kubernetes-validations: [{rule: "true", reason: FieldValueInvalid, optionalOldSelf: true}]}}}`, []string{
			`s: Invalid value: {"ID":"","Schema":"","Ref":null,"Description":"","Type":"object","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":[{}],"MaxProperties":null,"MinProperties":null,"Required":null,"Items":null,"AllOf":[{"ID":"","Schema":"","Ref":null,"Description":"","Type":"","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":null,"MaxProperties":null,"MinProperties":null,"Required":["a"],"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,"Not":{"ID":"","Schema":"","Ref":null,"Description":"","Type":"","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":1,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":null,"MaxProperties":null,"MinProperties":null,"Required":null,"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,"Not":null,"Properties":null,"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":null},"Properties":null,"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":null}],"OneOf":null,"AnyOf":null,"Not":null,"Properties":{"a":{"ID":"","Schema":"","Ref":null,"Description":"","Type":"array","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":null,"MaxProperties":null,"MinProperties":null,"Required":null,"Items":{"Schema":{"ID":"","Schema":"","Ref":null,"Description":"","Type":"number","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":1.5,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":null,"MaxProperties":null,"MinProperties":null,"Required":null,"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,"Not":null,"Properties":null,"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":null},"JSONSchemas":null},"AllOf":null,"OneOf":null,"AnyOf":null,"Not":null,"Properties":null,"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":{"Description":"","URL":"x"},"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":null},"b":{"ID":"","Schema":"","Ref":null,"Description":"","Type":"object","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":null,"MaxProperties":null,"MinProperties":null,"Required":null,"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,"Not":null,"Properties":null,"AdditionalProperties":{"Allows":true,"Schema":{"ID":"","Schema":"","Ref":null,"Description":"","Type":"string","Nullable":false,"Format":"","Title":"","Default":"x","Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":null,"MaxProperties":null,"MinProperties":null,"Required":null,"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,"Not":null,"Properties":null,"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":{"a":1},"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":null}},"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":null},"c":{"ID":"","Schema":"","Ref":null,"Description":"","Type":"object","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":null,"MaxProperties":null,"MinProperties":null,"Required":null,"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,"Not":null,"Properties":null,"AdditionalProperties":{"Allows":true,"Schema":null},"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":[{"Rule":"true","Message":"","MessageExpression":"","Reason":"FieldValueInvalid","FieldPath":"","OptionalOldSelf":true}]}},"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":null}: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled`,
		}},
		{"type of a root with status subresource", true, `{type: array, items: {type: string}}`, []string{
			`s.type: Invalid value: "array": only "object" is allowed as the type at the root of the schema if the status subresource is enabled`,
			`s.type: Invalid value: "array": must be object at the root`,
		}},
		{"root without type with status subresource", true, `{x-kubernetes-preserve-unknown-fields: true}`, nil},
		{"map type of a root with status subresource", true, `{type: object, x-kubernetes-map-type: atomic}`, []string{
			`s: Invalid value: {"ID":"","Schema":"","Ref":null,"Description":"","Type":"object","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":null,"MaxProperties":null,"MinProperties":null,"Required":null,"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,"Not":null,"Properties":null,"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":"atomic","XValidations":null}: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled`,
		}},
		{"default of the resource", false, `{type: object, default: {kind: "", metadata: {name: 1}, a: b}, properties: {a: {type: string}}}`, []string{
			`s.default.metadata: Invalid value: {"name":1}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string`,
		}},
		{"default of the resource without apiVersion and kind", false, `{type: object, default: {}}`, []string{
			`s.default.apiVersion: Required value`,
			`s.default.kind: Required value`,
		}},
		{"unrecognized formats", false, `{type: object, properties: {a: {type: array, items: {type: string}, maxItems: -1}, b: {type: string, format: nope, default: [1]}, c: {type: boolean, format: nope, default: 1}}}`, []string{
			`s.properties[c].default: Invalid value: "int64":  in body must be of type nope: "int64"`,
		}},
		{"embedded root", false, `{type: object, x-kubernetes-embedded-resource: true}`, []string{
			`s.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
		}},
		{"default without type", false, `{type: object, properties: {a: {type: array, items: {default: x}}, b: {type: array, default: x, items: {type: string}}}}`, []string{
			`s.properties[a].items.type: Required value: must not be empty for specified array items`,
		}},
		{"property named metadata of a nested object", false, `{type: object, properties: {a: {type: object, properties: {metadata: {type: string}, kind: {type: integer}}}}}`, nil},
		{"defaults that violate limits", false, `{type: object, properties: {a: {type: integer, minimum: 1, maximum: 1.5, default: 1}, b: {type: string, allOf: [{maxLength: 1}], default: abc}, c: {type: object, required: [x], properties: {x: {type: string}}, default: {}}, d: {type: object, additionalProperties: {type: integer}, default: {k: x}}}}`, []string{
			`s.properties[a].default: Invalid value: "": Maximum boundary value must be of type integer (default format) in `,
			`s.properties[b].default: Too long: may not be more than 1 byte`,
			`s.properties[b].default: Invalid value: "": "" must validate all the schemas (allOf). None validated`,
			`s.properties[c].default.x: Required value`,
			`s.properties[d].default.k: Invalid value: "string": .k in body must be of type integer: "string"`,
		}},
		{"null in a default", false, `{type: object, properties: {a: {type: object, properties: {b: {type: string}}, required: [b], default: {b: null}}}}`, []string{
			`s.properties[a].default.b: Invalid value: "null": b in body must be of type string: "null"`,
		}},
		{"default of a wrong type and format", false, `{type: object, properties: {a: {type: integer, format: date, default: x}}}`, []string{
			`s.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"`,
			`s.properties[a].default: Invalid value: "x":  in body must be of type date: "x"`,
		}},
		{"fieldPath of a rule next to an unsupported keyword", false, `{type: object, properties: {a: {type: string, id: x}, b: {type: object, x-kubernetes-validations: [{rule: "true", fieldPath: .c}]}}}`, []string{
			`s.properties[a].id: Forbidden: id is not supported`,
			`s.properties[b].x-kubernetes-validations[0].fieldPath: Invalid value: ".c": must be a valid path`,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			check := schema.DefinitionCheck{Status: tc.status}
			_, list := check.Check(props(t, tc.schema), validation.NewPath("s"))
			assert.Equal(t, tc.want, texts(list))
		})
	}
}

// An additionalProperties that is false is no zero value.
func TestFalseAtRootWithStatus(t *testing.T) {
	check := schema.DefinitionCheck{Status: true}
	_, list := check.Check(props(t, `{type: object, additionalProperties: false}`), validation.NewPath("s"))
	assert.Contains(t, texts(list)[0], "fields are allowed at the root of the schema if the status subresource is enabled")
}

// rules is a RuleChecker that records its arguments.
type rules struct {
	sites    []schema.RuleSite
	defaults []string
}

func (r *rules) CheckRules(sites []schema.RuleSite, path *validation.Path) validation.List {
	r.sites = sites
	return validation.List{validation.Forbidden(path, "rules")}
}

func (r *rules) CheckDefault(_ *schema.Schema, whole bool, value any, path *validation.Path) validation.List {
	if whole {
		r.defaults = append(r.defaults, "resource root")
	}
	r.defaults = append(r.defaults, path.String())
	return nil
}

func TestRuleSites(t *testing.T) {
	const rule = `x-kubernetes-validations: [{rule: "true"}]`
	check := func(text string) (*rules, []string) {
		r := &rules{}
		_, list := schema.DefinitionCheck{Rules: r}.Check(props(t, text), validation.NewPath("s"))
		return r, texts(list)
	}
	t.Run("sites", func(t *testing.T) {
		r, wrong := check(`{type: object, ` + rule + `, properties: {
			m: {type: object, maxProperties: 3, additionalProperties: {type: array, maxItems: 5, items: {type: string, ` + rule + `}}},
			l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], ` + rule + `, properties: {k: {type: string}}}},
			e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, ` + rule + `}}}`)
		assert.Equal(t, []string{"s: Forbidden: rules"}, wrong)
		type found struct {
			path, uncorrelatable string
			cardinality          uint64
			whole                bool
		}
		var sites []found
		for _, s := range r.sites {
			f := found{path: s.Path.String(), whole: s.IsResourceRoot}
			if s.Cardinality != nil {
				f.cardinality = *s.Cardinality
			}
			if s.Uncorrelatable != nil {
				f.uncorrelatable = s.Uncorrelatable.String()
			}
			assert.Len(t, s.Schema.Constraints.Rules, 1)
			sites = append(sites, f)
		}
		assert.Equal(t, []found{
			{"s.properties[e]", "", 1, true},
			{"s.properties[l].items", "", 0, false},
			{"s.properties[m].additionalProperties.items", "s.properties[m].additionalProperties", 15, false},
			{"s", "", 1, true},
		}, sites)
	})
	t.Run("next to an invalid subschema", func(t *testing.T) {
		r, wrong := check(`{type: object, ` + rule + `, properties: {a: {type: object, ` + rule + `}, b: {type: array, uniqueItems: true, items: {type: object, ` + rule + `}}}}`)
		assert.Len(t, wrong, 2)
		assert.Len(t, r.sites, 2)
	})
	t.Run("schema is not structural", func(t *testing.T) {
		r, _ := check(`{type: object, ` + rule + `, properties: {a: {}}}`)
		assert.Empty(t, r.sites)
	})
	t.Run("defaults", func(t *testing.T) {
		r, _ := check(`{type: object, properties: {a: {type: string, default: x}, b: {type: string, default: 1}, e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, default: {apiVersion: v1, kind: K}}}}`)
		assert.Equal(t, []string{"s.properties[a].default", "resource root", "s.properties[e].default"}, r.defaults)
	})
}

func TestDescend(t *testing.T) {
	s := fromProps(t, `{type: object, properties: {spec: {type: object, properties: {a: {type: string}, "a.b": {type: string}, "q'n\n": {type: string}, m: {type: object, additionalProperties: {type: integer}}, l: {type: array, items: {type: string}}}}}}`)
	for _, tc := range []struct {
		name, path string
		brackets   bool
		want, typ  string
		err        string
	}{
		{"field", ".spec.a", false, "spec.a", "string", ""},
		{"map entry", ".spec.m.x", false, "spec.m[x]", "integer", ""},
		{"brackets", ".spec['a.b']", true, "spec.a.b", "string", ""},
		{"escaped", `.spec['q\'n\n']`, true, "spec.q'n\n", "string", ""},
		{"empty", "", false, "<nil>", "object", ""},
		{"brackets not allowed", ".spec['a']", false, "", "", "array notation is not allowed"},
		{"unknown field", ".spec.b", false, "", "", "does not refer to a valid field"},
		{"field of a string", ".spec.a.b", false, "", "", "does not refer to a valid field"},
		{"element", ".spec.l.x", false, "", "", "does not refer to a valid field"},
		{"index", ".spec.l[0]", true, "", "", "expected single quoted string but got 0"},
		{"no dot", "spec", false, "", "", "expected [ or . but got: spec"},
		{"dot at the end", ".spec.", false, "", "", "unexpected end of JSON path"},
		{"bracket not closed", ".spec[", true, "", "", "unexpected end of JSON path"},
		{"bracket not closed after name", ".spec['a'", true, "", "", "unexpected end of JSON path"},
		{"two names", ".spec['a''b']", true, "", "", "expected ] but got 'b'"},
		{"invalid escape", `.spec['\x']`, true, "", "", `invalid string literal: invalid escape char \x`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path, found, err := s.Descend(tc.path, tc.brackets)
			if tc.err != "" {
				assert.EqualError(t, err, tc.err)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, tc.want, path.String())
			assert.Equal(t, tc.typ, found.Type)
		})
	}
}
