package storage

import "encoding/binary"

// FieldValues are a list of values of fields, each with its length before it as a varint: one
// string, because a server stores many of them.
type FieldValues string

// JoinFields returns values as FieldValues.
func JoinFields(values []string) FieldValues {
	var out []byte
	for _, v := range values {
		out = appendField(out, v)
	}
	return FieldValues(out)
}

func appendField(to []byte, value string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(value))), value...)
}

// At returns the value at index i, which must be one of the list.
func (v FieldValues) At(i int) string {
	for range i {
		_, v = v.cut()
	}
	value, _ := v.cut()
	return string(value)
}

// cut returns the first value and the others.
func (v FieldValues) cut() (first, rest FieldValues) {
	length, n := binary.Uvarint([]byte(v[:min(len(v), binary.MaxVarintLen64)]))
	if n <= 0 {
		panic("storage: no field value at this index")
	}
	return v[n:][:length], v[n:][length:]
}
