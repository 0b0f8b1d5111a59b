// Package corpus reads the recordings of real kube-apiservers: those of one release, and
// for other releases the differences from them.
package corpus

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/kubefake/kubefake/scenarios"
)

// A Recording is the text of a scenario. A corpus is about five megabytes, so only what
// plays a recording decodes it.
type Recording struct {
	Name string // area/name
	File string
	Text []byte
}

// Decode parses the scenario.
func (r Recording) Decode() (*scenarios.Scenario, error) {
	f, err := scenarios.Parse(r.File, r.Text)
	if err != nil {
		return nil, err
	}
	if len(f.Scenarios) != 1 || f.Scenarios[0].String() != r.Name {
		return nil, fmt.Errorf("%s: %s is not exactly one scenario", r.File, r.Name)
	}
	return f.Scenarios[0], nil
}

// Lines that are not indented are keys of the scenario.
var (
	areaLine = regexp.MustCompile(`(?m)^area: (\S+)$`)
	nameLine = regexp.MustCompile(`(?m)^name: (\S+)$`)
)

// Read returns the recordings in dir in the order of their files.
func Read(dir string) ([]Recording, error) {
	var all []Recording
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
			all = append(all, Recording{
				Name: string(area[1]) + "/" + string(name[1]),
				File: path,
				Text: text,
			})
		}
		return nil
	})
	return all, err
}
