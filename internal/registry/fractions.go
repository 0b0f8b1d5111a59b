package registry

import (
	"bytes"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// kube-apiserver stores times without fractions of a second, but keeps those of a request until then.
// So an update with such a time differs from the stored object each time: it raises the generation
// and changes what is immutable.

// restoreFractions gives the times of a candidate, which are as they are stored, the fractions of a second
// that the body has.
func (op *operation) restoreFractions(c *candidate) {
	typ := op.Type.Codec.Wire()
	if typ == nil || !mayHaveFractions(op.body.Data) {
		return
	}
	sent := map[fieldTime]string{} // the times with fractions of a second in the body
	patch.EachScalar(op.body.text(), func(field string, v any) {
		text, _ := v.(string)
		if stored, hasFraction := wire.TruncateTime(text); hasFraction {
			sent[fieldTime{field, stored}] = text
		}
	})
	if len(sent) == 0 {
		return
	}
	c.fractions = map[string]string{}
	c.object = typ.MapTimes(c.object, func(field, text string) string {
		if sent, ok := sent[fieldTime{field, text}]; ok {
			c.fractions[sent] = text
			return sent
		}
		return text
	})
}

// truncateFractions makes the times of a candidate as they are stored, and those in errors about it.
func (op *operation) truncateFractions(c *candidate, errs validation.List) {
	if len(c.fractions) == 0 {
		return
	}
	truncate := func(_, text string) string {
		if stored, ok := c.fractions[text]; ok {
			return stored
		}
		return text
	}
	truncated := op.Type.Codec.Wire().MapTimes(c.object, truncate)
	c.hasFractions = !object.Same(truncated, c.object)
	c.object = truncated
	for _, e := range errs {
		switch v := e.BadValue.(type) {
		case string:
			e.BadValue = truncate("", v)
		case validation.NamedString:
			e.BadValue = validation.NamedString(truncate("", string(v)))
		case unversioned.Value:
			v.Value = mapTexts(v.Value, func(text string) string { return truncate("", text) })
			e.BadValue = v
		}
	}
}

// mapTexts returns a copy of a value with f(text) in place of each text.
func mapTexts(v any, f func(text string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = mapTexts(element, f)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = mapTexts(member, f)
		}
		return out
	}
	return v
}

// mayHaveFractions reports whether a body may have a time with a fraction of a second.
func mayHaveFractions(body []byte) bool {
	for {
		at := bytes.IndexByte(body, 'T')
		if at < 0 {
			return false
		}
		if body = body[at+1:]; beginsWithFraction(body) {
			return true
		}
	}
}

// beginsWithFraction reports whether a text begins as the time of a day with a fraction of a second
// does: 9:00:00.5 or 09:00:00,5.
func beginsWithFraction(text []byte) bool {
	if len(text) > 1 && isDigit(text[0]) && isDigit(text[1]) {
		text = text[1:]
	}
	return len(text) > 8 && isDigit(text[0]) && text[1] == ':' && text[4] == ':' && (text[7] == '.' || text[7] == ',') && isDigit(text[8])
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// A fieldTime is a time as it is stored, and the name of its field.
type fieldTime struct{ field, text string }
