package explore

import (
	"encoding/base64"
	"encoding/pem"
	"strings"
)

// pemBlocks returns the blocks of a text that is PEM, or PEM in base64 as in the data of a Secret, and
// nil of another text.
func pemBlocks(text string) []*pem.Block {
	const begin, encoded = "-----BEGIN ", "LS0tLS1CRUdJTi"
	rest := []byte(text)
	if strings.HasPrefix(text, encoded) {
		decoded, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil
		}
		rest = decoded
	}
	if !strings.HasPrefix(string(rest), begin) {
		return nil
	}
	var blocks []*pem.Block
	for {
		var b *pem.Block
		if b, rest = pem.Decode(rest); b == nil {
			return blocks
		}
		blocks = append(blocks, b)
	}
}

// kinds returns what of a PEM text is the same in every run: keys are random, and so are the certificates
// that are made of them, so a block counts by its type. One that a user has written, such as a
// certificate that the system has to copy, counts by its content.
func (n *normalizer) kinds(blocks []*pem.Block) string {
	var out []string
	for _, b := range blocks {
		kind := b.Type
		if n.given()[string(b.Bytes)] {
			kind = string(pem.EncodeToMemory(b))
		}
		out = append(out, kind)
	}
	return "<" + strings.Join(out, ", ") + ">"
}

// givenPEM returns which PEM blocks users have written: those in the ConfigMaps and Secrets from before the
// run, and those that were first in a change by users.
func (o *outcome) givenPEM() map[string]bool {
	given := map[string]bool{}
	if o.before != nil {
		for _, resource := range []string{"configmaps", "secrets"} {
			for _, object := range o.before(resource) {
				notePEM(map[string]any(object), true, given)
			}
		}
	}
	for i := range o.changes {
		c := &o.changes[i]
		notePEM(map[string]any(c.object), !c.system && !c.cluster, given)
	}
	return given
}

// notePEM notes for each PEM block in a value that is new whether it is given.
func notePEM(v any, given bool, to map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			notePEM(e, given, to)
		}
	case []any:
		for _, e := range v {
			notePEM(e, given, to)
		}
	case string:
		for _, b := range pemBlocks(v) {
			if _, known := to[string(b.Bytes)]; !known {
				to[string(b.Bytes)] = given
			}
		}
	}
}
