package codec

import (
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
)

// A Document is a request body whose apiVersion and kind have been read.
type Document struct {
	// APIVersion and Kind are "" if the body does not give them.
	APIVersion, Kind string

	format   Format
	data     []byte // JSON, or the protobuf message
	original []byte
	generic  map[string]any // decoded CBOR
	err      error          // the error of decoding CBOR into generic

	// What Decode of the codec that the body was parsed for returns, if that is known; it is
	// returned once.
	codec       Codec
	decoded     map[string]any
	fieldErrors []error
}

// ParseFor is Parse for a body that is to be decoded by a codec, and most likely fits it: JSON
// is read in one pass then, with the options. Decode may be called for no other strict.
func (f Format) ParseFor(c Codec, body []byte, o wire.DecodeOptions) (*Document, error) {
	if f == JSON {
		obj, fieldErrors, ok := c.DecodeIdentified(body, o)
		if ok {
			return &Document{
				APIVersion: object.String(obj, "apiVersion"), Kind: object.String(obj, "kind"),
				format: f, data: body, original: body, codec: c, decoded: obj, fieldErrors: fieldErrors,
			}, nil
		}
	}
	return f.Parse(body)
}

// Parse reads the apiVersion and kind of a body in a format. Errors have
// kube-apiserver's text, which it precedes with "the object provided is
// unrecognized".
//
// The Document keeps body, which must not change while it is in use.
func (f Format) Parse(body []byte) (*Document, error) {
	d := &Document{format: f, data: body, original: body}
	switch f {
	case YAML:
		var err error
		if d.data, err = yaml.YAMLToJSON(body); err != nil {
			return nil, err
		}
	case Protobuf:
		e, err := wire.ParseEnvelope(body)
		if err != nil {
			return nil, err
		}
		d.data, d.Kind = e.Raw, e.Kind
		if strings.Count(e.APIVersion, "/") < 2 { // kube-apiserver ignores other values
			d.APIVersion = e.APIVersion
		}
		return d, nil
	case CBOR:
		return d, d.parseCBOR()
	}
	var err error
	d.APIVersion, d.Kind, err = wire.Identify(d.data)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Body returns the body that was parsed.
func (d *Document) Body() []byte { return d.original }

// A Codec reads the objects of one kind.
type Codec interface {
	// Decode, DecodeIdentified and Normalize are as the methods of wire.Type. DecodeIdentified
	// may report false for more bodies.
	Decode(body []byte, strict bool) (obj map[string]any, fieldErrors []error, err error)
	DecodeIdentified(body []byte, o wire.DecodeOptions) (obj map[string]any, fieldErrors []error, ok bool)
	Normalize(obj map[string]any, strict bool) (normal map[string]any, fieldErrors []error, err error)
	// Wire returns the type that decodes protobuf. It may be nil if no Document is
	// in protobuf.
	Wire() *wire.Type
}

// Decode reads the whole body as an object of c's kind. The object is in
// canonical form, with the kind and apiVersion that the body gives. With strict
// set, fieldErrors report unknown and duplicate fields; protobuf has neither.
func (d *Document) Decode(c Codec, strict bool) (obj map[string]any, fieldErrors []error, err error) {
	if d.decoded != nil && d.codec == c {
		obj, d.decoded = d.decoded, nil
		return obj, d.fieldErrors, nil
	}
	switch d.format {
	case Protobuf:
		if obj, err = c.Wire().DecodeProto(d.data); err != nil {
			return nil, nil, err
		}
		if d.Kind != "" {
			obj["kind"] = d.Kind
		}
		if d.APIVersion != "" {
			obj["apiVersion"] = d.APIVersion
		}
		return obj, nil, nil
	case CBOR:
		if d.err != nil {
			return nil, nil, d.err
		}
		return c.Normalize(d.generic, strict)
	}
	obj, fieldErrors, err = c.Decode(d.data, strict)
	if err == nil && strict && d.format == YAML {
		// The conversion to JSON has dropped duplicate fields.
		if _, err := yaml.YAMLToJSONStrict(d.original); err != nil {
			fieldErrors = append([]error{err}, fieldErrors...)
		}
	}
	return obj, fieldErrors, err
}

// Warnings returns the warnings for field errors. Each line of a YAML decoder's
// error is a warning of its own.
func Warnings(fieldErrors []error) []string {
	var warnings []string
	for _, err := range fieldErrors {
		text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
		lines, found := strings.CutPrefix(text, "yaml: unmarshal errors:\n")
		if !found {
			warnings = append(warnings, err.Error())
			continue
		}
		for _, line := range strings.Split(lines, "\n") {
			warnings = append(warnings, strings.TrimSpace(line))
		}
	}
	return warnings
}
