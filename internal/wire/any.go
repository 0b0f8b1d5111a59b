package wire

import "fmt"

// DecodeAny reads the JSON encoding of an object of no type: numbers become int64
// where they fit, else float64. Its errors are those of [Type.Decode]; JSON of
// something else than an object is one.
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

// AppendAny appends the JSON encoding of a value of no type to dst, as
// [Type.Append] does for members that have none.
func AppendAny(dst []byte, v any) []byte { return appendAny(dst, v) }
