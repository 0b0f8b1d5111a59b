package codec_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/wire"
)

// fromBase64 decodes a recorded body.
func fromBase64(s string) string {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Recorded bodies of a ConfigMap that kube-apiserver accepted.
var (
	protoBody  = fromBase64("azhzAAoPCgJ2MRIJQ29uZmlnTWFwEh4KFAoKZnJvbS1wcm90b1oGCgFsEgFtEgYKAWsSAXY=")
	plainCBOR  = fromBase64("pGphcGlWZXJzaW9uYnYxZGtpbmRpQ29uZmlnTWFwaG1ldGFkYXRhoWRuYW1lZXBsYWluZGRhdGGhYWthdg==")
	taggedCBOR = fromBase64("2dn3pGphcGlWZXJzaW9uYnYxZGtpbmRpQ29uZmlnTWFwaG1ldGFkYXRhoWRuYW1lZnRhZ2dlZGRkYXRhoWFrYXY=")
)

func TestParseAndDecode(t *testing.T) {
	object := func(name string, more ...string) map[string]any {
		meta := map[string]any{"name": name}
		for i := 0; i < len(more); i += 2 {
			meta["labels"] = map[string]any{more[i]: more[i+1]}
		}
		return map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": meta, "data": map[string]any{"k": "v"}}
	}
	for name, row := range map[string]struct {
		format codec.Format
		body   string
		want   map[string]any
	}{
		"json":        {codec.JSON, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"v"}}`, object("a")},
		"yaml":        {codec.YAML, "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata:\n  k: v\n", object("a")},
		"second yaml": {codec.YAML, "{kind: ConfigMap, apiVersion: v1, metadata: {name: a}, data: {k: v}}\n---\n{kind: Other}", object("a")},
		"protobuf":    {codec.Protobuf, protoBody, object("from-proto", "l", "m")},
		"cbor":        {codec.CBOR, plainCBOR, object("plain")},
		"tagged cbor": {codec.CBOR, taggedCBOR, object("tagged")},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := row.format.Parse([]byte(row.body))
			require.NoError(t, err)
			assert.Equal(t, "ConfigMap", d.Kind)
			assert.Equal(t, "v1", d.APIVersion)
			typ := kind(t, "ConfigMap")
			obj, fieldErrors, err := d.Decode(lenient{typ}, true)
			require.NoError(t, err)
			assert.Empty(t, fieldErrors)
			assert.Equal(t, row.want, obj)
		})
	}
}

func TestParseErrors(t *testing.T) {
	for name, row := range map[string]struct {
		format codec.Format
		body   string
		want   string
	}{
		"empty json":        {codec.JSON, ``, "couldn't get version/kind; json parse error: unexpected end of JSON input"},
		"protobuf as json":  {codec.JSON, protoBody, "couldn't get version/kind; json parse error: invalid character 'k' looking for beginning of value"},
		"directive":         {codec.YAML, "%JUNK", "yaml: found unknown directive name"},
		"tab":               {codec.YAML, "\tkind: x", "yaml: found character that cannot start any token"},
		"two colons":        {codec.YAML, "a: b: c", "yaml: mapping values are not allowed in this context"},
		"list in yaml":      {codec.YAML, "- a", "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }"},
		"unknown anchor":    {codec.YAML, "a: *x", "yaml: unknown anchor 'x' referenced"},
		"anchor in itself":  {codec.YAML, "a: &a [*a]", "yaml: anchor 'a' value contains itself"},
		"json as protobuf":  {codec.Protobuf, `{"kind":"ConfigMap"}`, "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
		"empty protobuf":    {codec.Protobuf, "", "empty data"},
		"magic alone":       {codec.Protobuf, "k8s\x00", "empty body"},
		"cut envelope":      {codec.Protobuf, "k8s\x00\xff", "unexpected EOF"},
		"length too great":  {codec.Protobuf, "k8s\x00\x12\xff\xff\xff\xff\x0f", "unexpected EOF"},
		"envelope of other": {codec.Protobuf, "k8s\x00\x08\x01", "proto: wrong wireType = 0 for field TypeMeta"},
		"no cbor":           {codec.CBOR, "not cbor", "unable to determine group/version/kind: unexpected EOF"},
		"empty cbor":        {codec.CBOR, "", "unable to determine group/version/kind: EOF"},
		"list in cbor":      {codec.CBOR, "\x80", "unable to determine group/version/kind: cbor: cannot unmarshal array into Go value of type v1.TypeMeta (cannot decode CBOR array to struct without toarray option)"},
		"NaN in cbor":       {codec.CBOR, "\xa1\x64data\xf9\x7e\x00", "unable to determine group/version/kind: cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN"},
		"trailing cbor":     {codec.CBOR, "\xa0\xa0", "unable to determine group/version/kind: cbor: 1 bytes of extraneous data starting at index 1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := row.format.Parse([]byte(row.body))
			assert.EqualError(t, err, row.want)
		})
	}
}

func TestDecodeErrors(t *testing.T) {
	typ := kind(t, "ConfigMap")
	envelope := func(raw string) string {
		return string(wire.Envelope{APIVersion: "v1", Kind: "ConfigMap", Raw: []byte(raw)}.Append(nil))
	}
	for name, row := range map[string]struct {
		format codec.Format
		body   string
		want   string
	}{
		"bool in yaml":      {codec.YAML, "data: {k: true}", "json: cannot unmarshal bool into Go struct field ConfigMap.data of type string"},
		"cut message":       {codec.Protobuf, envelope("\x0a\x05x"), "unexpected EOF"},
		"wrong wire type":   {codec.Protobuf, envelope("\x08\x01"), "proto: wrong wireType = 0 for field ObjectMeta"},
		"end of no group":   {codec.Protobuf, envelope("\x0c"), "proto: ConfigMap: wiretype end group for non-group"},
		"field 0":           {codec.Protobuf, envelope("\x02"), "proto: ConfigMap: illegal tag 0 (wire type 2)"},
		"wire type 7":       {codec.Protobuf, envelope("\x7f"), "proto: illegal wireType 7"},
		"long varint":       {codec.Protobuf, envelope(strings.Repeat("\xff", 11)), "proto: integer overflow"},
		"negative length":   {codec.Protobuf, envelope("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "proto: negative length found during unmarshaling"},
		"duplicate in cbor": {codec.CBOR, "\xa1\x64data\xa2\x61a\x61b\x61a\x61c", `cbor: found duplicate map key "a" at map element index 1`},
		"bool in cbor":      {codec.CBOR, "\xa1\x64data\xa1\x61a\xf5", "json: cannot unmarshal bool into Go struct field ConfigMap.data of type string"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := row.format.Parse([]byte(row.body))
			require.NoError(t, err)
			_, _, err = d.Decode(lenient{typ}, false)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

// TestStrict checks the field errors of strict decoding, and their warnings.
func TestStrict(t *testing.T) {
	typ := kind(t, "ConfigMap")
	d, err := codec.YAML.Parse([]byte("metadata: {name: a}\ndata: {a: b, a: c}\nfoo: 1\nfoo: 2\n"))
	require.NoError(t, err)
	_, fieldErrors, err := d.Decode(lenient{typ}, true)
	require.NoError(t, err)
	assert.Len(t, fieldErrors, 2)
	assert.Equal(t, []string{
		`line 2: key "a" already set in map`,
		`line 4: key "foo" already set in map`,
		`unknown field "foo"`,
	}, codec.Warnings(fieldErrors))

	_, fieldErrors, err = d.Decode(lenient{typ}, false)
	require.NoError(t, err)
	assert.Empty(t, fieldErrors)
}

func TestWarnings(t *testing.T) {
	assert.Equal(t, []string{"one", "two", "three"}, codec.Warnings([]error{
		errors.New("one"),
		errors.New("error converting YAML to JSON: yaml: unmarshal errors:\n  two\n  three"),
	}))
	assert.Empty(t, codec.Warnings(nil))
}

// TestCBORBytes decodes both encodings of bytes in CBOR: base64 text, and raw
// bytes in the tag that announces base64.
func TestCBORBytes(t *testing.T) {
	typ := kind(t, "ConfigMap")
	for name, body := range map[string]string{
		"base64": "\xa1\x6abinaryData\xa1\x61k\x44AAEC",
		"tagged": "\xa1\x6abinaryData\xa1\x61k\xd6\x43\x00\x01\x02",
	} {
		t.Run(name, func(t *testing.T) {
			d, err := codec.CBOR.Parse([]byte(body))
			require.NoError(t, err)
			obj, _, err := d.Decode(lenient{typ}, true)
			require.NoError(t, err)
			assert.Equal(t, map[string]any{"k": "AAEC"}, obj["binaryData"])
		})
	}
}

func TestCBORToJSON(t *testing.T) {
	for name, row := range map[string]struct {
		body string
		want string
		err  string
	}{
		"object":     {"\xa1\x61a\x01", `{"a":1}`, ""},
		"list":       {"\x82\xf6\xf5", `[null,true]`, ""},
		"great ints": {"\xa1\x61a\x1b\x7f\xff\xff\xff\xff\xff\xff\xff", `{"a":9223372036854775807}`, ""},
		"time":       {"\xc1\x1a\x66\x38\x7f\x00", `"2024-05-06T06:56:00Z"`, ""},
		"no cbor":    {"not cbor", "", "unexpected EOF"},
		"twice":      {"\xa2\x61a\x01\x61a\x01", "", `cbor: found duplicate map key "a" at map element index 1`},
		"too great":  {"\x1b\xff\xff\xff\xff\xff\xff\xff\xff", "", "cbor: cannot unmarshal positive integer into Go value of type int64 (18446744073709551615 overflows Go's int64)"},
		"undefined":  {"\xf7", "", "cbor: data item of cbor type primitives is not accepted by protocol: simple value 23 is not recognized"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := codec.CBORToJSON([]byte(row.body))
			if row.err != "" {
				assert.EqualError(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, string(got))
		})
	}
}

// FuzzParse decodes any body in any format. What decodes must encode in that
// format and decode to the same object.
func FuzzParse(f *testing.F) {
	f.Add(uint8(codec.JSON), []byte(`{"kind":"ConfigMap","data":{"a":"b"}}`))
	f.Add(uint8(codec.YAML), []byte("kind: ConfigMap\ndata: &a {a: b, <<: *a}"))
	f.Add(uint8(codec.Protobuf), []byte(protoBody))
	f.Add(uint8(codec.CBOR), []byte(taggedCBOR))
	f.Add(uint8(codec.CBOR), []byte("\xbf\x64data\xbf\x61a\x7f\x61b\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, format uint8, body []byte) {
		typ := kind(t, "ConfigMap")
		format %= uint8(len(formats))
		d, err := codec.Format(format).Parse(body)
		if err != nil {
			return
		}
		obj, fieldErrors, err := d.Decode(lenient{typ}, true)
		inOnePass, errInOnePass := codec.Format(format).ParseFor(lenient{typ}, body, wire.DecodeOptions{Strict: true})
		require.NoError(t, errInOnePass)
		assert.Equal(t, []string{d.APIVersion, d.Kind}, []string{inOnePass.APIVersion, inOnePass.Kind})
		for range 2 {
			sameObj, sameErrors, sameErr := inOnePass.Decode(lenient{typ}, true)
			assert.Equal(t, []any{obj, fieldErrors, err}, []any{sameObj, sameErrors, sameErr})
		}
		if err != nil {
			return
		}
		doc := typ.Append(nil, obj)
		again, err := codec.Format(format).Parse(codec.Format(format).Append(nil, doc, typ))
		require.NoError(t, err)
		got, _, err := again.Decode(lenient{typ}, true)
		require.NoError(t, err)
		assert.Equal(t, string(doc), string(typ.Append(nil, got)))
	})
}
