package wire

import (
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

// fieldKey reads the key of a field of a message.
func fieldKey(message, data string) (number int32, wireType byte, value string, err error) {
	key, value, err := varint(data)
	number, wireType = int32(key>>3), byte(key&7)
	switch {
	case err != nil:
	case wireType == 4:
		err = fmt.Errorf("proto: %s: wiretype end group for non-group", message)
	case number <= 0:
		err = fmt.Errorf("proto: %s: illegal tag %d (wire type %d)", message, number, key)
	}
	return number, wireType, value, err
}

// varint reads an integer.
func varint(data string) (v uint64, rest string, err error) {
	for i := range 10 {
		if i == len(data) {
			return 0, "", io.ErrUnexpectedEOF
		}
		b := data[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return v, data[i+1:], nil
		}
	}
	return 0, "", errProtoOverflow
}

// minPosition is the least number of bytes before what a length near the largest integer declares: a key
// and the length. kube-apiserver takes the length for negative if the sum of the two overflows.
const minPosition = 10

// chunk reads a length and the bytes it declares.
func chunk(data string) (inner, rest string, err error) {
	n, data, err := varint(data)
	switch {
	case err != nil:
		return "", "", err
	case n > math.MaxInt64-minPosition:
		return "", "", errProtoLength
	case int(n) > len(data):
		return "", "", io.ErrUnexpectedEOF
	}
	return data[:n], data[n:], nil
}

// skipField skips a field with its key. For a group it skips all fields up to
// the end of the group.
func skipField(data string) (rest string, err error) {
	for groups := 0; ; {
		key, value, err := varint(data)
		if err != nil {
			return "", err
		}
		switch key & 7 {
		case 0:
			_, data, err = varint(value)
		case 1:
			data, err = drop(value, 8)
		case 2:
			_, data, err = chunk(value)
		case 3:
			groups++
			data = value
		case 4:
			if groups == 0 {
				return "", errProtoGroup
			}
			groups--
			data = value
		case 5:
			data, err = drop(value, 4)
		default:
			return "", fmt.Errorf("proto: illegal wireType %d", key&7)
		}
		if err != nil || groups == 0 {
			return data, err
		}
	}
}

func drop(data string, n int) (rest string, err error) {
	if len(data) < n {
		return "", io.ErrUnexpectedEOF
	}
	return data[n:], nil
}

// validText returns s with a replacement character for each invalid UTF-8 byte,
// as JSON encodes it.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
