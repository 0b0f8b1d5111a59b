package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/wire"
)

func TestEncoded(t *testing.T) {
	for _, row := range []struct {
		name, metadata string
		uid            string
		want           string // the metadata with version 41
	}{
		{"all", `{"name":"a","generateName":"a-","namespace":"n","uid":"u","labels":{"uid":"}\""}}`, "u",
			`{"name":"a","generateName":"a-","namespace":"n","uid":"u","resourceVersion":"41","labels":{"uid":"}\""}}`},
		{"uid last", `{"name":"a","uid":"u"}`, "u", `{"name":"a","uid":"u","resourceVersion":"41"}`},
		{"escapes", `{"name":"\"uid\":\"v","uid":"u","x":1}`, "u", `{"name":"\"uid\":\"v","uid":"u","resourceVersion":"41","x":1}`},
		{"no uid", `{"name":"a","labels":{"uid":"v"}}`, "", `{"name":"a","resourceVersion":"41","labels":{"uid":"v"}}`},
		{"first member", `{"labels":{}}`, "", `{"resourceVersion":"41","labels":{}}`},
		{"only member", `{}`, "", `{"resourceVersion":"41"}`},
		{"replaced", `{"uid":"u","resourceVersion":"7","labels":{}}`, "u", `{"uid":"u","resourceVersion":"41","labels":{}}`},
		{"replaced last", `{"uid":"u","resourceVersion":"7"}`, "u", `{"uid":"u","resourceVersion":"41"}`},
		{"replaced first member", `{"resourceVersion":"7","labels":{}}`, "", `{"resourceVersion":"41","labels":{}}`},
		{"replaced only member", `{"resourceVersion":"7"}`, "", `{"resourceVersion":"41"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			const head, tail = `{"kind":"Thing","apiVersion":"v1",`, `,"data":{"uid":"w","metadata":{}}}`
			before := head + `"metadata":` + row.metadata + tail
			after := head + `"metadata":` + row.want + tail
			e := wire.NewEncoded([]byte(before + "\n"))
			assert.Equal(t, row.uid, e.UID())
			assert.Equal(t, row.metadata, string(e.Metadata()))
			assert.Equal(t, before+"\n", string(e.JSON()))

			got := e.WithVersion(41)
			assert.Equal(t, after+"\n", string(got.JSON()))
			assert.Equal(t, got, wire.NewEncoded(got.JSON()), "positions")
			assert.Equal(t, row.want, string(got.Metadata()))
			assert.Equal(t, got, got.WithVersion(7).WithVersion(41))
			assert.Equal(t, row.uid, got.UID())

			assert.True(t, e.EqualExceptVersion(got))
			assert.False(t, e.EqualExceptVersion(wire.NewEncoded([]byte(before+" \n"))))

			assert.Equal(t, before, string(e.Document()))
			assert.Equal(t, strings.TrimPrefix(before, head), string(e.AfterTypeMeta()))

			for _, write := range []struct {
				want string
				f    func(*strings.Builder) error
			}{
				{after, func(w *strings.Builder) error { return e.WriteWithVersion(w, 41) }},
				{after, func(w *strings.Builder) error { return got.WriteWithVersion(w, 41) }},
			} {
				var w strings.Builder
				require.NoError(t, write.f(&w))
				assert.Equal(t, write.want, w.String())
			}
		})
	}
}

func TestEncodedVersionText(t *testing.T) {
	e := wire.NewEncoded([]byte(`{"metadata":{"uid":"u"}}` + "\n")).WithVersionText(`a"b`)
	assert.Equal(t, `{"metadata":{"uid":"u","resourceVersion":"a\"b"}}`+"\n", string(e.JSON()))
	assert.Equal(t, `{"metadata":{"uid":"u","resourceVersion":"5"}}`+"\n", string(e.WithVersion(5).JSON()))
}
