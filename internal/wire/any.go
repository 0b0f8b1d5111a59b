package wire

import "fmt"

// DecodeAny decodes a JSON object without a type: numbers become int64 if they
// are integers that fit, else float64. Its errors are those of [Type.Decode];
// JSON that is not an object is an error.
func DecodeAny(data []byte) (map[string]any, error) {
	d := decoders.Get().(*decoder)
	defer d.release()
	v, err := d.document(string(data))
	if err != nil {
		return nil, err
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("wire: %T for an object", v)
	}
	return obj, nil
}

// AppendAny appends the JSON encoding of a value without a type to dst, as
// [Type.Append] encodes untyped members.
func AppendAny(dst []byte, v any) []byte { return appendAny(dst, v) }
