package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// A scenario is a sequence of exchanges with a server and what a real
// kube-apiserver answered. testdata/corpus/README.md describes the format.
type scenario struct {
	Name     string `json:"name"`
	Area     string `json:"area"`
	Why      string `json:"why"`
	Recorded string `json:"recorded"` // version of the server that answered
	// Gates are the feature gates that the server needs on.
	Gates []string `json:"gates"`
	// ManagedFields keeps metadata.managedFields in what is compared.
	ManagedFields bool   `json:"managedFields"`
	Steps         []step `json:"steps"`
}

// A step is one of: a request (Do), a watch opened in the background (Watch
// and As), events read from one (Events and Count), or a control (Compact,
// Pause).
type step struct {
	Name string `json:"name"`

	Do      string            `json:"do"`   // "METHOD /path?query"
	User    string            `json:"user"` // bearer token; "none" for no token
	Accept  string            `json:"accept"`
	Type    string            `json:"type"`    // Content-Type
	Headers map[string]string `json:"headers"` // an empty value removes the header
	Body    any               `json:"body"`    // sent as JSON
	Raw     string            `json:"raw"`     // sent as it is
	Base64  string            `json:"base64"`
	// Until repeats the request until it is answered with this status.
	Until int `json:"until"`
	// Capture binds variables to dotted paths of the answer.
	Capture map[string]string `json:"capture"`
	// Only limits the comparison to these dotted paths of the body.
	Only []string `json:"only"`

	Watch  string `json:"watch"`
	As     string `json:"as"`
	Events string `json:"events"`
	Count  int    `json:"count"`
	// Ends says that the server must end the stream after Count events.
	Ends bool `json:"ends"`

	Compact bool   `json:"compact"`
	Pause   string `json:"pause"`

	Want *answer `json:"want"`
}

// An answer is what a server said to one step. In a scenario its volatile
// values are placeholders; see matcher.
type answer struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Warning []string          `json:"warning"`
	Body    any               `json:"body"`
	Events  []any             `json:"events"`
}

func (s *step) String() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Do != "":
		return s.Do
	case s.Watch != "":
		return "watch " + s.Watch
	case s.Events != "":
		return "events of " + s.Events
	case s.Compact:
		return "compact"
	}
	return "pause"
}

// A recording is a scenario still in its YAML text. The corpus is some five
// megabytes, so a recording is decoded only by the test that plays it.
type recording struct {
	name string // area/name
	file string
	text []byte
}

// decode reads the scenario, refusing fields it does not know.
func (r recording) decode() (*scenario, error) {
	b, err := yaml.YAMLToJSONStrict(r.text)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", r.file, r.name, err)
	}
	var s scenario
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", r.file, r.name, err)
	}
	return &s, nil
}

// An unindented line of a block mapping can only be one of its own keys.
var (
	areaLine = regexp.MustCompile(`(?m)^area: (\S+)$`)
	nameLine = regexp.MustCompile(`(?m)^name: (\S+)$`)
)

// readCorpus lists the recordings under dir in the order of their files.
func readCorpus(dir string) ([]recording, error) {
	var all []recording
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, text := range bytes.Split(b, []byte("\n---\n")) {
			area, name := areaLine.FindSubmatch(text), nameLine.FindSubmatch(text)
			if area == nil || name == nil {
				return fmt.Errorf("%s: document %d has no area and name", path, i)
			}
			all = append(all, recording{
				name: string(area[1]) + "/" + string(name[1]),
				file: path,
				text: text,
			})
		}
		return nil
	})
	return all, err
}
