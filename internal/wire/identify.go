package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Identify returns the apiVersion and kind of a JSON body, "" for a missing
// one. kube-apiserver reads them before it decodes the body, with other rules:
// names match in any case, and the last of several members is used.
//
// Input that is not JSON, a body that is neither an object nor null, and
// members that are not strings are errors with kube-apiserver's texts.
func Identify(data []byte) (apiVersion, kind string, err error) {
	d := decoders.Get().(*decoder)
	defer d.release()
	d.src = string(data)
	var found typeMeta
	if !d.typeMeta(&found) {
		// encoding/json, which kube-apiserver uses here, provides the text.
		found = typeMeta{}
		if err := json.Unmarshal(data, &found); err != nil {
			return "", "", fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
		}
	}
	return strings.Clone(found.APIVersion), strings.Clone(found.Kind), nil
}

// DecodeIdentified is Decode for a body of which Identify has not been called. It reports false
// if Identify would fail or find another kind or apiVersion than those of obj, and if Decode
// fails.
func (t *Type) DecodeIdentified(data []byte, o DecodeOptions) (obj map[string]any, fieldErrors []error, ok bool) {
	o.identified = true
	obj, fieldErrors, err := t.Decode(data, o)
	return obj, fieldErrors, err == nil
}

var (
	// errOtherCase is the error of DecodeIdentified for a member that only Identify reads.
	errOtherCase = errors.New("kind or apiVersion in another case")
	// errNoMetadata is the error of DecodeCustom for metadata that is not an object.
	errNoMetadata = errors.New("the metadata is not an object")
)

// namesType reports whether Identify reads the member of that name.
func namesType(name string) bool {
	return strings.EqualFold(name, "kind") || strings.EqualFold(name, "apiVersion")
}

// typeMeta is the result of Identify.
type typeMeta = struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
}

// typeMeta reads an object. It reports false if the object needs encoding/json.
func (d *decoder) typeMeta(found *typeMeta) bool {
	d.space()
	if d.peek() != '{' || !d.enter() {
		return false
	}
	for first := true; ; first = false {
		more, ok := d.next('}', first)
		if !ok {
			return false
		}
		if !more {
			break
		}
		key, ok := d.key()
		if !ok {
			return false
		}
		d.space()
		into := &found.APIVersion
		switch {
		case strings.EqualFold(key, "apiVersion"):
		case strings.EqualFold(key, "kind"):
			into = &found.Kind
		default:
			if !d.skip() {
				return false
			}
			continue
		}
		if d.literal("null") {
			continue
		}
		if d.peek() != '"' {
			return false
		}
		if *into, ok = d.string(); !ok {
			return false
		}
	}
	d.space()
	return d.pos == len(d.src)
}
