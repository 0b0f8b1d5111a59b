package server

import (
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of the warnings of one answer, in runes. Beyond maxWarnings every
// warning is cut to maxWarning, and beyond maxWarnings again none is added.
const (
	maxWarnings = 4 << 10
	maxWarning  = 256
)

// warnings are the warnings of one answer.
type warnings struct {
	texts []string
	runes int  // in the headers of the answer
	cut   bool // every warning is cut to maxWarning
}

// add adds a warning to the headers of the answer, unless they have it.
func (w *warnings) add(h http.Header, text string) {
	if text == "" || w.cut && w.runes >= maxWarnings || slices.Contains(w.texts, text) {
		return
	}
	w.texts = append(w.texts, text)
	if w.cut || w.runes+utf8.RuneCountInString(text) <= maxWarnings {
		w.write(h, text)
		return
	}
	h.Del("Warning")
	w.cut, w.runes = true, 0
	for _, text := range w.texts {
		w.write(h, text)
	}
}

func (w *warnings) write(h http.Header, text string) {
	n := utf8.RuneCountInString(text)
	if w.cut && n > maxWarning {
		text, n = string([]rune(text)[:maxWarning]), maxWarning
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return // a header cannot have it
	}
	w.runes += n
	h.Add("Warning", "299 - "+quoteWarning(text))
}

// warn adds Warning headers to the answer, unless it has them already.
//
// See https://kubernetes.io/blog/2020/09/03/warnings/.
func (r *request) warn(texts ...string) {
	for _, text := range texts {
		r.warned.add(r.w.Header(), text)
	}
}

var warningQuoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// quoteWarning returns text as a quoted-string of RFC 7230.
func quoteWarning(text string) string { return `"` + warningQuoter.Replace(text) + `"` }
