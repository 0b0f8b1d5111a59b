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
	for ; ; i-- {
		var value FieldValues
		if value, v = v.cut(); i == 0 {
			return string(value)
		}
	}
}

// cut returns the first value and the others.
func (v FieldValues) cut() (first, rest FieldValues) {
	length, shift := 0, 0
	for i := range len(v) {
		length |= int(v[i]&0x7f) << shift
		if shift += 7; v[i] < 0x80 {
			return v[i+1:][:length], v[i+1+length:]
		}
	}
	panic("storage: no field value at this index")
}
