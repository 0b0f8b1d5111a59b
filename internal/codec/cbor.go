package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/fxamacker/cbor/v2"
)

// cborMode is how CBOR is decoded: the options of kube-apiserver, which keep to
// what JSON has too. It is made on first use.
var cborMode = sync.OnceValue(func() cbor.DecMode {
	var simple []func(*cbor.SimpleValueRegistry) error
	for v := range 256 {
		if (v < 20 || v > 22) && (v < 24 || v > 31) { // false, true and null; what is reserved
			simple = append(simple, cbor.WithRejectedSimpleValue(cbor.SimpleValue(v)))
		}
	}
	values, err := cbor.NewSimpleValueRegistryFromDefaults(simple...)
	if err != nil {
		panic("codec: " + err.Error())
	}
	mode, err := cbor.DecOptions{
		DupMapKey:                cbor.DupMapKeyEnforcedAPF,
		TimeTag:                  cbor.DecTagOptional,
		MaxNestedLevels:          10000,
		MaxArrayElements:         1<<31 - 1,
		MaxMapPairs:              1 << 21,
		IndefLength:              cbor.IndefLengthAllowed,
		TagsMd:                   cbor.TagsAllowed,
		IntDec:                   cbor.IntDecConvertSignedOrFail,
		MapKeyByteString:         cbor.MapKeyByteStringForbidden,
		DefaultMapType:           reflect.TypeFor[map[string]any](),
		UTF8:                     cbor.UTF8RejectInvalid,
		FieldNameMatching:        cbor.FieldNameMatchingCaseSensitive,
		DefaultByteStringType:    reflect.TypeFor[string](),
		ByteStringToString:       cbor.ByteStringToStringAllowedWithExpectedLaterEncoding,
		FieldNameByteString:      cbor.FieldNameByteStringAllowed,
		UnrecognizedTagToAny:     cbor.UnrecognizedTagContentToAny,
		TimeTagToAny:             cbor.TimeTagToRFC3339Nano,
		ByteStringToTime:         cbor.ByteStringToTimeAllowed,
		NaN:                      cbor.NaNDecodeForbidden,
		Inf:                      cbor.InfDecodeForbidden,
		ByteStringExpectedFormat: cbor.ByteStringExpectedBase64,
		BignumTag:                cbor.BignumTagForbidden,
		SimpleValues:             values,
		BinaryUnmarshaler:        cbor.BinaryUnmarshalerNone,
	}.DecMode()
	if err != nil {
		panic("codec: " + err.Error())
	}
	return mode
})

// typeMeta is what the server looks for in a body before all else.
type typeMeta struct {
	Kind       string `json:"kind,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
}

// parseCBOR finds the kind of a body in CBOR and decodes it. An error beyond the
// kind is left for Decode to return.
func (d *Document) parseCBOR() error {
	var head typeMeta
	mode := cborMode()
	if err := mode.Unmarshal(d.data, &head); err != nil {
		if e := (*cbor.UnmarshalTypeError)(nil); errors.As(err, &e) {
			// The server's type goes by another name.
			e.GoType = strings.Replace(e.GoType, "codec.typeMeta", "v1.TypeMeta", 1)
			e.StructFieldName = strings.Replace(e.StructFieldName, "codec.typeMeta", "v1.TypeMeta", 1)
		}
		return fmt.Errorf("unable to determine group/version/kind: %w", err)
	}
	d.APIVersion, d.Kind = head.APIVersion, head.Kind
	d.err = mode.Unmarshal(d.data, &d.generic)
	return nil
}

// CBORToJSON makes JSON of a patch in CBOR, which need not say its kind. Its errors
// are those of the decoder.
func CBORToJSON(body []byte) ([]byte, error) {
	var generic any
	if err := cborMode().Unmarshal(body, &generic); err != nil {
		return nil, err
	}
	return json.Marshal(generic)
}
