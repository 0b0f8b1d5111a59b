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

// cborMode returns kube-apiserver's options for decoding CBOR, which accept
// only what JSON can express too.
var cborMode = sync.OnceValue(func() cbor.DecMode {
	var simple []func(*cbor.SimpleValueRegistry) error
	for v := range 256 {
		if (v < 20 || v > 22) && (v < 24 || v > 31) { // false, true and null; reserved values
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

// typeMeta has the fields that kube-apiserver reads from a body first.
type typeMeta struct {
	Kind       string `json:"kind,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
}

// parseCBOR reads the kind of a CBOR body and decodes it. Decode returns the
// error of decoding the rest.
func (d *Document) parseCBOR() error {
	var head typeMeta
	mode := cborMode()
	if err := mode.Unmarshal(d.data, &head); err != nil {
		if e := (*cbor.UnmarshalTypeError)(nil); errors.As(err, &e) {
			// Errors show the name of kube-apiserver's type.
			e.GoType = strings.Replace(e.GoType, "codec.typeMeta", "v1.TypeMeta", 1)
			e.StructFieldName = strings.Replace(e.StructFieldName, "codec.typeMeta", "v1.TypeMeta", 1)
		}
		return fmt.Errorf("unable to determine group/version/kind: %w", err)
	}
	d.APIVersion, d.Kind = head.APIVersion, head.Kind
	d.err = mode.Unmarshal(d.data, &d.generic)
	return nil
}

// CBORToJSON converts a CBOR patch to JSON. Its errors are those of the
// decoder.
func CBORToJSON(body []byte) ([]byte, error) {
	var generic any
	if err := cborMode().Unmarshal(body, &generic); err != nil {
		return nil, err
	}
	return json.Marshal(generic)
}
