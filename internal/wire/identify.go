package wire

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Identify returns the apiVersion and kind that a JSON body gives; what it does
// not give is empty. The server reads them before it decodes the body, and not
// quite as it decodes the rest: names in any case count, and the last of each
// wins.
//
// Input that is not JSON, a body that is not an object (but null, which gives
// nothing) and members that are not strings are errors, in the server's words.
func Identify(data []byte) (apiVersion, kind string, err error) {
	d := decoders.Get().(*decoder)
	defer d.release()
	d.src = string(data)
	var found typeMeta
	if !d.typeMeta(&found) {
		// encoding/json, which the server uses here, has the words.
		found = typeMeta{}
		if err := json.Unmarshal(data, &found); err != nil {
			return "", "", fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
		}
	}
	return strings.Clone(found.APIVersion), strings.Clone(found.Kind), nil
}

// typeMeta is what Identify looks for.
type typeMeta = struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
}

// typeMeta reads an object and reports whether it found what it expects.
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
