package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/kubefake/kubefake/fakeapi/manifests"
)

// A jsonWriter prints one JSON object: results, a line for each, and a summary.
type jsonWriter struct {
	w     io.Writer
	o     Options
	began bool
}

func newJSON(w io.Writer, o Options) Writer { return &jsonWriter{w: w, o: o} }

func (j *jsonWriter) Write(r *manifests.Result) error {
	if !j.o.shows(r) && r.State == "" && r.Outcome != manifests.NoObject {
		return nil
	}
	return j.line(r)
}

// line prints a result after what separates it from the one before.
func (j *jsonWriter) line(r *manifests.Result) error {
	separator := "{\"results\": [\n"
	if j.began {
		separator = ",\n"
	}
	j.began = true
	text, err := json.Marshal(r)
	if err == nil {
		_, err = io.WriteString(j.w, separator+escaped(text))
	}
	return err
}

// escaped returns JSON with escapes for what is not printable.
func escaped(text []byte) string {
	var b strings.Builder
	for _, r := range string(text) {
		switch {
		case r == '\n' || strconv.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.String()
}

func (j *jsonWriter) Close(e End) error {
	text, err := json.Marshal(struct {
		manifests.Summary
		Releases []string `json:"releases"`
		Seconds  float64  `json:"seconds"`
	}{e.Summary, e.Releases, e.Duration.Seconds()})
	if err != nil {
		return err
	}
	begin := "{\"results\": ["
	if j.began {
		begin = ""
	}
	_, err = io.WriteString(j.w, begin+"\n],\n\"summary\": "+string(text)+"}\n")
	return err
}
