package validation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

type fields = map[string]any

// with returns valid metadata of a namespaced object with changes. A nil
// removes a field.
func with(changes fields) fields {
	meta := fields{
		"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "1", "generation": int64(1),
		"creationTimestamp": "2024-01-01T00:00:00Z",
		"labels":            fields{"example.com/a": "b"},
		"annotations":       fields{"Example.com/A": "b c"},
		"finalizers":        []any{"example.com/f"},
		"ownerReferences":   []any{fields{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "v", "controller": true}},
		"managedFields":     []any{fields{"manager": "m", "operation": "Update", "fieldsType": "FieldsV1", "subresource": "status"}},
	}
	for field, v := range changes {
		if v == nil {
			delete(meta, field)
		} else {
			meta[field] = v
		}
	}
	return meta
}

func TestObjectMeta(t *testing.T) {
	path := validation.NewPath("metadata")
	for _, tc := range []struct {
		name    string
		changes fields
		want    []string
	}{
		{"valid", nil, nil},
		{"no name", fields{"name": nil}, []string{"metadata.name: Required value: name or generateName is required"}},
		{"bad name and prefix", fields{"name": "A", "generateName": "B"}, []string{
			`metadata.generateName: Invalid value: "B": ` + subdomainText, `metadata.name: Invalid value: "A": ` + subdomainText,
		}},
		{"no namespace", fields{"namespace": nil}, []string{"metadata.namespace: Required value"}},
		{"bad namespace", fields{"namespace": "a.b"}, []string{`metadata.namespace: Invalid value: "a.b": must not contain dots`}},
		{"negative generation", fields{"generation": int64(-1)}, []string{"metadata.generation: Invalid value: -1: must be greater than or equal to 0"}},
		{"bad labels, by key", fields{"labels": fields{"b": "-", "-": "ok", "a": "."}}, []string{
			`metadata.labels: Invalid value: "-": ` + namePartText, `metadata.labels: Invalid value: ".": ` + labelValueText, `metadata.labels: Invalid value: "-": ` + labelValueText,
		}},
		{"null label", fields{"labels": fields{"a": nil}}, nil},
		{"bad annotation", fields{"annotations": fields{"bad key": ""}}, []string{`metadata.annotations: Invalid value: "bad key": ` + namePartText}},
		{"annotations of the maximum size", fields{"annotations": fields{"a": strings.Repeat("v", 256<<10-1)}}, nil},
		{"annotations too large", fields{"annotations": fields{"a": strings.Repeat("v", 256<<10)}}, []string{"metadata.annotations: Too long: may not be more than 262144 bytes"}},
		{"empty owner", fields{"ownerReferences": []any{fields{}}}, []string{
			"metadata.ownerReferences[0].apiVersion: Required value: must not be empty",
			"metadata.ownerReferences[0].kind: Required value: must not be empty",
			"metadata.ownerReferences[0].name: Required value: must not be empty",
			"metadata.ownerReferences[0].uid: Required value: must not be empty",
		}},
		{"owner of a bad version", fields{"ownerReferences": []any{fields{"apiVersion": "a/b/c", "kind": "K", "name": "n", "uid": "u"}}}, []string{
			`metadata.ownerReferences[0].apiVersion: Invalid value: "a/b/c": must be <group>/<version> or <version>`,
		}},
		{"owned by an event", fields{"ownerReferences": []any{fields{"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "u1"}}}, []string{
			`metadata.ownerReferences[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"u1"}: /v1, Kind=Event is disallowed from being an owner`,
		}},
		{"two controllers", fields{"ownerReferences": []any{
			fields{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u1", "controller": true},
			fields{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u2", "controller": true, "blockOwnerDeletion": false},
		}}, []string{
			`metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u1","controller":true},{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"u2","controller":true,"blockOwnerDeletion":false}]: Only one reference can have Controller set to true. Found "true" in references for Pod/p and ReplicaSet/r`,
		}},
		{"bad finalizer", fields{"finalizers": []any{"bad one"}}, []string{`metadata.finalizers: Invalid value: "bad one": ` + namePartText}},
		{"exclusive finalizers", fields{"finalizers": []any{"foregroundDeletion", "orphan"}}, []string{
			`metadata.finalizers: Invalid value: ["foregroundDeletion","orphan"]: finalizer orphan and foregroundDeletion cannot be both set`,
		}},
		{"bad managed fields", fields{"managedFields": []any{fields{"operation": "Apply"}, fields{
			"operation": "Patch", "fieldsType": "V2", "manager": "a\n" + strings.Repeat("b", 127), "subresource": strings.Repeat("s", 257),
		}}}, []string{
			"metadata.managedFields[1].operation: Unsupported value: \"Patch\": supported values: \"Apply\", \"Update\"",
			"metadata.managedFields[1].fieldsType: Invalid value: \"V2\": must be `FieldsV1`",
			"metadata.managedFields[1].manager: Too long: may not be more than 128 bytes",
			`metadata.managedFields[1].manager: Invalid value: "a\n` + strings.Repeat("b", 127) + `": invalid character U+000A (at position 1)`,
			"metadata.managedFields[1].subresource: Too long: may not be more than 256 bytes",
		}},
		{"values of other types", fields{"labels": "a", "finalizers": int64(1), "ownerReferences": fields{}, "generation": "1"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, texts(validation.ObjectMeta(with(tc.changes), true, validation.SubdomainName, path).In(nil, "", "")))
		})
	}

	t.Run("cluster scope", func(t *testing.T) {
		assert.Empty(t, validation.ObjectMeta(with(fields{"namespace": nil}), false, validation.SubdomainName, path))
		assert.Equal(t, []string{"metadata.namespace: Forbidden: not allowed on this type"},
			texts(validation.ObjectMeta(with(nil), false, validation.SubdomainName, path)))
	})
	t.Run("nil", func(t *testing.T) {
		assert.Equal(t, "metadata.name: Required value: name or generateName is required",
			validation.ObjectMeta(nil, false, validation.SubdomainName, path).Message())
	})
}

func TestObjectMetaUpdate(t *testing.T) {
	deleting := fields{"deletionTimestamp": "2024-01-02T00:00:00Z", "deletionGracePeriodSeconds": int64(30)}
	for _, tc := range []struct {
		name     string
		old, new fields
		want     []string
	}{
		{"no change", nil, nil, nil},
		{"no version", nil, fields{"resourceVersion": nil}, []string{`metadata.resourceVersion: Invalid value: "": must be specified for an update`}},
		{"lower generation", nil, fields{"generation": nil}, []string{"metadata.generation: Invalid value: 0: must not be decremented"}},
		{"changed identity", nil, fields{"name": "b", "namespace": "b", "uid": "<b>"}, []string{
			`metadata.name: Invalid value: "b": field is immutable`,
			`metadata.namespace: Invalid value: "b": field is immutable`,
			`metadata.uid: Invalid value: "\u003cb\u003e": field is immutable`,
		}},
		{"same time in another zone", nil, fields{"creationTimestamp": "2024-01-01T01:00:00+01:00"}, nil},
		{"changed creation time", nil, fields{"creationTimestamp": "2024-01-01T02:00:00+01:00"}, []string{`metadata.creationTimestamp: Invalid value: "2024-01-01T01:00:00Z": field is immutable`}},
		{"removed creation time", nil, fields{"creationTimestamp": nil}, []string{`metadata.creationTimestamp: Invalid value: null: field is immutable`}},
		{"deletion by update", nil, deleting, []string{
			`metadata.deletionTimestamp: Invalid value: "2024-01-02T00:00:00Z": field is immutable`,
			`metadata.deletionGracePeriodSeconds: Invalid value: 30: field is immutable`,
		}},
		{"removed deletion time", deleting, nil, []string{
			`metadata.deletionTimestamp: Invalid value: null: field is immutable`,
			`metadata.deletionGracePeriodSeconds: Invalid value: null: field is immutable`,
		}},
		{"other finalizers", nil, fields{"finalizers": []any{"x/z", "bad one"}}, nil},
		{"other finalizers while deleting", deleting, fields{
			"deletionTimestamp": "2024-01-02T00:00:00Z", "deletionGracePeriodSeconds": int64(30),
			"finalizers": []any{"x/z", "example.com/f", "x/a", "x/z"},
		}, []string{`metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/a", "x/z"}`}},
		{"bad old labels", fields{"labels": fields{"-": ""}}, nil, nil},
		{"bad new labels, annotations, owners, managers", nil, fields{
			"labels": fields{"a": "-"}, "annotations": fields{"": ""}, "ownerReferences": []any{fields{"apiVersion": "v1", "kind": "K", "name": "n"}}, "managedFields": []any{fields{}},
		}, []string{
			`metadata.labels: Invalid value: "-": ` + labelValueText,
			`metadata.annotations: Invalid value: "": name part must be non-empty`,
			`metadata.annotations: Invalid value: "": ` + namePartText,
			"metadata.ownerReferences[0].uid: Required value: must not be empty",
			"metadata.managedFields[0].operation: Required value: must not be empty",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			list := validation.ObjectMetaUpdate(with(tc.new), object.ViewOf(with(tc.old)), validation.NewPath("metadata"))
			assert.Equal(t, tc.want, texts(list.In(nil, "", "")))
		})
	}
}

func TestObjectMetaIsNotChanged(t *testing.T) {
	newMeta, oldMeta := with(fields{"finalizers": []any{"z", "a", "a"}}), with(fields{"deletionTimestamp": "2024-01-02T00:00:00Z"})
	path := validation.NewPath("metadata")
	validation.ObjectMeta(newMeta, true, validation.SubdomainName, path)
	validation.ObjectMetaUpdate(newMeta, object.ViewOf(oldMeta), path)
	assert.Equal(t, with(fields{"finalizers": []any{"z", "a", "a"}}), newMeta)
	assert.Equal(t, with(fields{"deletionTimestamp": "2024-01-02T00:00:00Z"}), oldMeta)
}

func TestFinalizerNames(t *testing.T) {
	meta := fields{"finalizers": []any{"kubernetes", "orphan", "foregroundDeletion", "a/b", "nope", "x.io"}}
	assert.Equal(t, []string{
		`metadata.finalizers[4]: Invalid value: "nope": name is neither a standard finalizer name nor is it fully qualified`,
		`metadata.finalizers[5]: Invalid value: "x.io": name is neither a standard finalizer name nor is it fully qualified`,
	}, texts(validation.FinalizerNames(meta, validation.NewPath("metadata"))))
}

func TestFinalizerWarnings(t *testing.T) {
	meta := fields{"finalizers": []any{"x.io", "held", "a/b", "orphan", "-"}}
	assert.Equal(t, []string{
		`metadata.finalizers: "-": ` + namePartText,
		`metadata.finalizers: "-": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
		`metadata.finalizers: "x.io": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`,
	}, validation.FinalizerWarnings(meta, object.ViewOf(fields{"finalizers": []any{"held"}}), validation.NewPath("metadata")))
}
