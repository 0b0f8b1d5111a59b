package explore

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/explain"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/outputfile"
)

// planFiles are the files of findings in a directory. Without a directory there are
// none.
type planFiles struct {
	name    string // of the test
	dir     string
	stories string // directory of the stories
	only    string // the only file to load; "" for all of dir
	command string // that runs the plan of a file, which follows; "" if it is not known
}

// A planFile is the content of a file.
type planFile struct {
	// Version is that of the format, 1.
	Version int `json:"version"`
	// Oracle and Finding say what was wrong when the file was written.
	Oracle  Oracle `json:"oracle,omitempty"`
	Finding string `json:"finding,omitempty"`
	Seed    uint64 `json:"seed,omitempty"`
	Plan    Plan   `json:"plan"`
	// Pause is the pause with which the workload ends; 0 is its own end.
	Pause int `json:"pause,omitempty"`

	name string
}

// load reads the files, sorted by name.
func (p *planFiles) load() ([]*planFile, error) {
	names := []string{p.only}
	if p.only == "" {
		if p.dir == "" {
			return nil, nil
		}
		var err error
		if names, err = filepath.Glob(filepath.Join(p.dir, "*.yaml")); err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	var out []*planFile
	for _, name := range names {
		f, err := readPlan(name)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// ReadPlan reads the plan of a file that a search has written. It fails if the file has none.
func ReadPlan(name string) (Plan, error) {
	f, err := readPlan(name)
	if err != nil {
		return nil, err
	}
	return f.Plan, nil
}

func readPlan(name string) (*planFile, error) {
	text, err := inputfile.Read(name)
	if err != nil {
		return nil, err
	}
	f, err := parsePlan(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f.name = name
	return f, nil
}

// parsePlan reads a file.
func parsePlan(text []byte) (*planFile, error) {
	f := &planFile{}
	if err := yaml.UnmarshalStrict(text, f); err != nil {
		return nil, explain.Error(nil, f, err)
	}
	if f.Version != 1 {
		return nil, fmt.Errorf("unsupported version %d of the format", f.Version)
	}
	if f.Pause < 0 {
		return nil, errors.New("pause is negative")
	}
	for _, d := range f.Plan {
		if err := d.check(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// format returns the text of the file, with the command that plays it unless that is "".
func (f *planFile) format(command string) ([]byte, error) {
	b, err := yaml.Marshal(f)
	if err != nil {
		return nil, err
	}
	text := "# A plan of package explore. The test that has found it plays it first.\n"
	if command != "" {
		text += "# " + command + "\n"
	}
	return append([]byte(text), b...), nil
}

// save writes the plan and the story of a finding, and sets the names of the files.
func (p *planFiles) save(f *Finding) error {
	if p.dir != "" {
		file := &planFile{Version: 1, Oracle: f.Oracle, Finding: f.Violation.String(), Seed: f.Seed, Plan: f.Plan, Pause: f.Pause}
		f.File = filepath.Join(p.dir, nameFor(f.Oracle, f.Plan)+".yaml")
		if p.command != "" {
			f.Command = p.command + " " + f.File
		}
		text, err := file.format(f.Command)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(p.dir, 0o777); err != nil {
			return err
		}
		if err := outputfile.WriteText(f.File, text, 0o666); err != nil {
			return err
		}
	}
	return p.saveStory(f)
}

// saveStory writes the stories of a finding.
func (p *planFiles) saveStory(f *Finding) error {
	if p.stories == "" || len(f.pages) == 0 {
		return nil
	}
	if err := os.MkdirAll(p.stories, 0o777); err != nil {
		return err
	}
	name := filepath.Join(p.stories, nameFor(f.Oracle, f.Plan))
	f.Story, f.OtherStories = name+".html", nil
	for _, of := range f.pages[1:] {
		f.OtherStories = append(f.OtherStories, name+"-"+of.cluster+".html")
	}
	for i, file := range f.stories() {
		if err := outputfile.WriteText(file, f.pages[i].html, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// pending writes a plan that is about to run, and returns a function that removes it
// again. If the run ends the process, the file remains.
func (p *planFiles) pending(plan Plan, seed uint64) (forget func()) {
	none := func() {}
	if p.dir == "" {
		return none
	}
	file := &planFile{Version: 1, Oracle: Panics, Finding: "the process ended during this plan", Seed: seed, Plan: plan}
	text, err := file.format("")
	if err != nil || os.MkdirAll(p.dir, 0o777) != nil {
		return none
	}
	name := filepath.Join(p.dir, nameFor(Panics, plan)+".yaml")
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return none
	}
	forget = func() {
		os.Remove(name)
		os.Remove(p.dir) // if it is empty
	}
	if os.WriteFile(name, text, 0o666) != nil {
		forget()
		return none
	}
	return forget
}

// nameFor returns the name of a plan's file without its extension.
func nameFor(oracle Oracle, plan Plan) string {
	h := fnv.New32a()
	b, _ := json.Marshal(plan) // strings and numbers always encode
	h.Write(b)
	words := []string{string(oracle)}
	for _, d := range plan {
		words = append(words, string(d.Do))
	}
	return fmt.Sprintf("%s-%08x", strings.Join(words, "-"), h.Sum32())
}
