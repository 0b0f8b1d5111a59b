package wire

import (
	"bytes"
	"errors"
	"fmt"
)

// An Envelope contains an object in protobuf: its kind and apiVersion, which
// its own message does not have, and that message.
type Envelope struct {
	APIVersion, Kind string
	Raw              []byte // for [Type.DecodeProto]
}

// protoMagic is the prefix of every envelope.
var protoMagic = []byte("k8s\x00")

// Append appends the envelope to dst.
func (e Envelope) Append(dst []byte) []byte {
	dst = append(dst, protoMagic...)
	dst = append(dst, 1<<3|wireBytes, 0)
	start := len(dst)
	dst = append(dst, 1<<3|wireBytes)
	dst = appendText(dst, e.APIVersion)
	dst = append(dst, 2<<3|wireBytes)
	dst = appendText(dst, e.Kind)
	dst = closeLength(dst, start)
	dst = append(dst, 2<<3|wireBytes)
	dst = appendVarint(dst, uint64(len(e.Raw)))
	dst = append(dst, e.Raw...)
	// contentEncoding and contentType are empty.
	return append(dst, 3<<3|wireBytes, 0, 4<<3|wireBytes, 0)
}

// The fields of an envelope and of its TypeMeta.
var (
	envelopeMessage = smallMessage{"Unknown", []smallField{
		{"TypeMeta", wireBytes}, {"Raw", wireBytes}, {"ContentEncoding", wireBytes}, {"ContentType", wireBytes},
	}}
	typeMetaMessage = smallMessage{"TypeMeta", []smallField{{"APIVersion", wireBytes}, {"Kind", wireBytes}}}
)

// ParseEnvelope parses an envelope. Raw shares memory with data. Errors have
// kube-apiserver's texts.
func ParseEnvelope(data []byte) (Envelope, error) {
	switch {
	case len(data) == 0:
		return Envelope{}, errors.New("empty data")
	case !bytes.HasPrefix(data, protoMagic):
		return Envelope{}, fmt.Errorf("provided data does not appear to be a protobuf message, expected prefix %v", protoMagic)
	case len(data) == len(protoMagic):
		return Envelope{}, errors.New("empty body")
	}
	var e Envelope
	err := envelopeMessage.each(string(data[len(protoMagic):]), func(number int32, value string) (rest string, err error) {
		text, rest, err := chunk(value)
		if err != nil {
			return "", err
		}
		switch number {
		case 1:
			err = e.parseTypeMeta(text)
		case 2:
			end := len(data) - len(rest)
			e.Raw = data[end-len(text) : end]
		}
		return rest, err
	})
	return e, err
}

func (e *Envelope) parseTypeMeta(data string) error {
	return typeMetaMessage.each(data, func(number int32, value string) (rest string, err error) {
		text, rest, err := chunk(value)
		if number == 1 {
			e.APIVersion = validText(text)
		} else {
			e.Kind = validText(text)
		}
		return rest, err
	})
}
