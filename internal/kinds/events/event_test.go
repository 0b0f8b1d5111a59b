package events_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateEvents(t *testing.T) {
	timed := `"metadata":{"name":"a","namespace":"n"},"eventTime":"2024-01-02T03:04:05.000000Z","involvedObject":{"namespace":"n"}`
	kindtest.TestValidation(t, "events", []kindtest.ValidationRow{
		{"without eventTime", "", `{"metadata":{"namespace":"n"},"involvedObject":{"namespace":"n"}}`, ""},
		{"without eventTime, cluster-scoped object", "", `{"metadata":{"namespace":"default"},"involvedObject":{}}`, ""},
		{"object in another namespace", "", `{"metadata":{"namespace":"n"},"involvedObject":{"namespace":"o"}}`, `involvedObject.namespace: Invalid value: "o": does not match event.namespace`},
		{"with eventTime", "", `{` + timed + `,"reportingComponent":"c","reportingInstance":"i","action":"a","reason":"r"}`, ""},
		{"with eventTime only", "", `{` + timed + `}`, "[reportingComponent: Required value, reportingComponent: Invalid value: \"\": name part must be non-empty, reportingComponent: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), reportingInstance: Required value, action: Required value, reason: Required value]"},
		{"with eventTime and long fields", "", `{` + timed + `,"reportingComponent":"c","reportingInstance":"i","action":"` + strings.Repeat("a", 129) + `","reason":"r","message":"` + strings.Repeat("a", 1025) + `"}`, `[action: Invalid value: "": can have at most 128 characters, message: Invalid value: "": can have at most 1024 characters]`},
	})
}

func TestEventVersions(t *testing.T) {
	v1, events := kindtest.Versions(t, "events")
	obj := kindtest.Decode(t, v1, `{"involvedObject":{"kind":"Pod","name":"p"},"message":"m","reason":"R","count":3,"source":{"component":"c"},"firstTimestamp":"2024-01-02T03:04:05Z","reportingComponent":"a/b"}`)
	other := kindtest.Convert(t, events, obj)
	kindtest.CheckRow(t, kindtest.Row{Path: "", Want: `{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{},"regarding":{"kind":"Pod","name":"p"},"note":"m","reason":"R","deprecatedCount":3,
		"deprecatedSource":{"component":"c"},"deprecatedFirstTimestamp":"2024-01-02T03:04:05Z","deprecatedLastTimestamp":null,"eventTime":null,"reportingController":"a/b"}`}, other)
	assert.Equal(t, obj, kindtest.Convert(t, v1, other), "round trip")
}

func TestValidateNewEvent(t *testing.T) {
	_, typ := kindtest.Versions(t, "events")
	const base = `{"metadata":{"name":"a","namespace":"n","resourceVersion":"1"},"eventTime":"2024-01-02T03:04:05.000006Z","type":"Normal","reason":"R","action":"A",
		"reportingController":"a/b","reportingInstance":"i","regarding":{"kind":"Pod","name":"p","namespace":"n"},"note":"m"}`
	for _, r := range kindtest.ValidationRows(t, "", "", base, []kindtest.PatchRow{
		{"no time", `{"eventTime":null}`, `eventTime: Required value`},
		{"no reporter", `{"reportingController":null}`, kindtest.Errors(
			`reportingController: Required value`,
			`reportingController: Invalid value: "": name part must be non-empty`,
			`reportingController: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`)},
		{"type", `{"type":"Odd"}`, `type: Invalid value: "": has invalid value: Odd`},
		{"series", `{"series":{"count":1,"lastObservedTime":null}}`, kindtest.Errors(
			`series.count: Invalid value: "": should be at least 2`, `series.lastObservedTime: Required value`)},
		{"deprecated fields", `{"deprecatedCount":1,"deprecatedSource":{"host":"h"},"deprecatedFirstTimestamp":"2024-01-02T03:04:05Z"}`, kindtest.Errors(
			`firstTimestamp: Invalid value: "": needs to be unset`, `count: Invalid value: "": needs to be unset`, `source: Invalid value: "": needs to be unset`)},
	}) {
		t.Run(r.Name, func(t *testing.T) { kindtest.CheckValidation(t, r, typ.Validate, kindtest.Decode(t, typ, r.Body), nil) })
	}
	for _, r := range kindtest.ValidationRows(t, "update ", base, base, []kindtest.PatchRow{
		{"series", `{"series":{"count":2,"lastObservedTime":"2024-01-02T03:04:05.000006Z"}}`, ""},
		{"finalizers", `{"metadata":{"finalizers":["f"]}}`, `metadata.finalizers[0]: Invalid value: "f": name is neither a standard finalizer name nor is it fully qualified`},
		{"note", `{"note":"n"}`, `message: Invalid value: "n": field is immutable`},
		{"duplicate error for reason", `{"reason":"S"}`, kindtest.Errors(`reason: Invalid value: "S": field is immutable`, `reason: Invalid value: "S": field is immutable`)},
		{"count", `{"deprecatedCount":2}`, `count: Invalid value: 2: field is immutable`},
		{"reporter", `{"reportingController":"a/c"}`, `reportingController: Invalid value: "a/c": field is immutable`},
		{"object", `{"regarding":{"uid":"u"}}`,
			`involvedObject: Invalid value: {"Kind":"Pod","Namespace":"n","Name":"p","UID":"u","APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable`},
	}) {
		t.Run(r.Name, func(t *testing.T) {
			kindtest.CheckValidation(t, r, typ.Validate, kindtest.Decode(t, typ, r.Body), kindtest.Decode(t, typ, r.Old))
		})
	}
}
