package explore

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/kubefake/kubefake/internal/explain"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/outputfile"
)

// A record is what a search has tried and found, for Merge and for the next search. Its file has
// the name of its content, so that the records of several searches are together in one directory
// when their files are.
type record struct {
	// Version is that of the format, 1.
	Version int `json:"version"`
	// Name is that of the test; "" for Search.
	Name  string `json:"name,omitempty"`
	Seed  uint64 `json:"seed"`
	Shard string `json:"shard,omitempty"`
	// Command runs the plan of a file, which follows.
	Command string `json:"command,omitempty"`
	// Reference has the numbers of the points of the reference run, Points the points.
	Reference Points  `json:"reference"`
	Points    digests `json:"points"`
	// Plans are those that were run. Lively are the decisions that led to states that were
	// new, States all states.
	Plans  digests `json:"plans"`
	Lively digests `json:"lively"`
	States digests `json:"states"`

	Coverage    []*recordedCoverage `json:"coverage"`
	Permissions []Permission        `json:"permissions"`
	Findings    []*recordedFinding  `json:"findings"`
	Unrepeated  []*recordedFinding  `json:"unrepeated"`

	// Running is what the search says of itself while it goes on.
	Running *Running `json:"running,omitempty"`

	dir string // of the file
}

// A recordedCoverage is a Coverage with the decisions that were made.
type recordedCoverage struct {
	Sort   string  `json:"sort"`
	Action Action  `json:"action"`
	Points int     `json:"points"`
	Equal  int     `json:"equal"`
	Done   digests `json:"done"`
}

// A recordedFinding is a Finding. Its files are in the directory of the record.
type recordedFinding struct {
	Oracle   Oracle `json:"oracle"`
	Subject  string `json:"subject"`
	Detail   string `json:"detail"`
	Plan     Plan   `json:"plan"`
	Pause    int    `json:"pause,omitempty"`
	First    int    `json:"first"`
	Plans    int    `json:"plans"`
	Seed     uint64 `json:"seed"`
	Tried    int    `json:"tried"`
	Repeated int    `json:"repeated"`
	File     string `json:"file,omitempty"`
	Story    string `json:"story,omitempty"`
}

// recordFiles matches the names of the files of records.
const recordFiles = "search-*.json"

// readRecords returns the records of a directory whose names match a pattern, by the names of their
// files.
func readRecords(dir, pattern string) ([]*record, error) {
	if dir == "" {
		return nil, nil
	}
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return nil, err
	}
	var out []*record
	for _, name := range names {
		text, err := inputfile.Read(name)
		if errors.Is(err, fs.ErrNotExist) { // the search has ended meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		r := &record{dir: dir}
		if err := json.Unmarshal(text, r); err != nil {
			return nil, fmt.Errorf("%s: %w", name, explain.Error(text, r, err))
		}
		if r.Version != 1 {
			return nil, fmt.Errorf("%s: unsupported version %d of the format", name, r.Version)
		}
		out = append(out, r)
	}
	return out, nil
}

// write writes the record to its directory, under the name of its content.
func (r *record) write() error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return r.writeText(filepath.Join(r.dir, fmt.Sprintf("search-%.8x.json", sha256.Sum256(text))), text)
}

// writeTo writes the record to a file.
func (r *record) writeTo(name string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return r.writeText(name, text)
}

func (r *record) writeText(name string, text []byte) error {
	if err := os.MkdirAll(r.dir, 0o777); err != nil {
		return err
	}
	return outputfile.WriteText(name, text, 0o666)
}

// record returns the record of the search.
func (s *search) record() *record {
	r := &record{
		Version: 1, Name: s.files.name, Seed: s.system.Seed, Shard: s.system.Shard.String(), Command: s.files.command, Reference: s.report.Points,
		Points: digests{}, Plans: s.ran, Lively: maps.Clone(s.earlier.lively), States: digests{}, dir: s.files.dir,
	}
	for _, p := range s.ref.points {
		r.Points[digestOf(p.Point)] = true
	}
	for d, lively := range s.lively {
		if lively {
			r.Lively[digestOf(d)] = true
		}
	}
	for state := range s.states {
		r.States[digest(state)] = true
	}
	for _, c := range s.report.Coverage {
		r.Coverage = append(r.Coverage, &recordedCoverage{c.Sort, c.Action, c.Points, c.Equal, c.done})
	}
	r.Permissions = s.report.Permissions
	for _, f := range s.report.Findings {
		if f.Saved { // the search that has saved it has a record too
			continue
		}
		r.Findings = append(r.Findings, recorded(f))
	}
	for _, f := range s.report.Unrepeated {
		r.Unrepeated = append(r.Unrepeated, recorded(f))
	}
	return r
}

func recorded(f *Finding) *recordedFinding {
	return &recordedFinding{
		Oracle: f.Oracle, Subject: f.Subject, Detail: f.Detail, Plan: f.Plan, Pause: f.Pause, First: f.first, Plans: f.Plans,
		Seed: f.Seed, Tried: f.Tried, Repeated: f.Repeated, File: base(f.File), Story: base(f.Story),
	}
}

// base returns the last element of a path, "" for "".
func base(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}

// finding returns a Finding, with its files.
func (r *record) finding(f *recordedFinding) *Finding {
	in := func(name string) string {
		if name == "" {
			return ""
		}
		return filepath.Join(r.dir, name)
	}
	out := &Finding{
		Violation: Violation{Oracle: f.Oracle, Subject: f.Subject, Detail: f.Detail}, Plan: f.Plan, Pause: f.Pause, Plans: f.Plans,
		Seed: f.Seed, Tried: f.Tried, Repeated: f.Repeated, File: in(f.File), Story: in(f.Story), first: f.First,
	}
	if r.Command != "" && out.File != "" {
		out.Command = r.Command + " " + out.File
	}
	return out
}

// An earlier has what earlier searches have tried.
type earlier struct{ points, plans, lively digests }

// remember reads the records of earlier searches, if the search needs them.
func (s *search) remember() error {
	s.earlier = &earlier{digests{}, digests{}, digests{}}
	if !s.system.Resume && !s.system.NewOnly {
		return nil
	}
	records, err := readRecords(s.files.dir, recordFiles)
	if err != nil {
		return err
	}
	records = slices.DeleteFunc(records, func(r *record) bool { return r.Name != s.files.name })
	if len(records) == 0 && s.system.NewOnly {
		return fmt.Errorf("explore: %s has nothing of an earlier search, so all points are new", s.files.dir)
	}
	for _, r := range records {
		maps.Copy(s.earlier.points, r.Points)
		if !s.system.Resume {
			continue
		}
		maps.Copy(s.earlier.plans, r.Plans)
		maps.Copy(s.earlier.lively, r.Lively)
		for state := range r.States {
			s.states[uint64(state)] = true
		}
	}
	return nil
}
