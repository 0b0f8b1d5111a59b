package server

import (
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How many runes of warnings an answer has: once they are too many, each is cut
// short, and none comes after they are too many again.
const (
	maxWarnings = 4 << 10
	maxWarning  = 256
)

// warnings are those of one answer.
type warnings struct {
	texts []string
	runes int  // that the answer has of them
	cut   bool // each is cut short
}

// add adds one to the headers of the answer, if they do not have it yet.
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
		return // no header can have it
	}
	w.runes += n
	h.Add("Warning", "299 - "+quoteWarning(text))
}

// warn adds Warning headers to the answer, unless it has them already.
//
// See https://kubernetes.io/blog/2020/09/03/warnings/.
func (r *request) warn(texts ...string) {
	for _, text := range texts {
		r.addWarning(text)
	}
}

func (r *request) addWarning(text string) { r.warned.add(r.w.Header(), text) }

var warningQuoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// quoteWarning quotes as RFC 7230 does.
func quoteWarning(text string) string { return `"` + warningQuoter.Replace(text) + `"` }
