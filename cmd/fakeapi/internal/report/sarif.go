package report

import (
	"encoding/json"
	"io"
	"path/filepath"
	"slices"

	"github.com/kubefake/kubefake/fakeapi/manifests"
)

// A sarif prints SARIF 2.1.0, which code scanning reads.
type sarif struct {
	w       io.Writer
	version string
	rules   []string
	results []sarifResult
}

type sarifResult struct {
	RuleID     string           `json:"ruleId"`
	Kind       string           `json:"kind,omitempty"` // "fail" if there is none
	Level      string           `json:"level"`
	Message    sarifMessage     `json:"message"`
	Locations  []sarifLocation  `json:"locations"`
	Properties *sarifProperties `json:"properties,omitempty"`
}

type sarifProperties struct {
	State   manifests.State    `json:"state"`
	Changes []manifests.Change `json:"changes,omitempty"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifLocation struct {
	Physical sarifPhysical  `json:"physicalLocation"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
}

type sarifLogical struct {
	Name string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

type sarifRule struct {
	ID string `json:"id"`
}

func newSARIF(w io.Writer, o Options) Writer { return &sarif{w: w, version: o.Version} }

func (s *sarif) Write(r *manifests.Result) error {
	if isNews(r) && r.State != manifests.Refused {
		f := manifests.Finding{Reason: "State", Line: r.Line, Column: r.Column, Message: string(r.State)}
		s.add(r, &f, "informational", "none")
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Severity > manifests.Note {
			s.add(r, f, "", f.Severity.String())
		}
	}
	return nil
}

// add adds a result of a kind and a level of SARIF.
func (s *sarif) add(r *manifests.Result, f *manifests.Finding, kind, level string) {
	if !slices.Contains(s.rules, f.Reason) {
		s.rules = append(s.rules, f.Reason)
	}
	at := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{filepath.ToSlash(sourceOf(r))}}}
	if f.Line > 0 && sourceOf(r) == r.File {
		at.Physical.Region = &sarifRegion{f.Line, max(1, f.Column)}
	}
	name := describe(r)
	if name != "" {
		at.Logical = []sarifLogical{{name, "resource"}}
		name += ": "
	}
	out := sarifResult{f.Reason, kind, level, sarifMessage{name + f.Message + suffix(r, f)}, []sarifLocation{at}, nil}
	if r.State != "" {
		out.Properties = &sarifProperties{State: r.State}
		if len(r.Answers) > 0 {
			out.Properties.Changes = r.Answers[0].Changes
		}
	}
	s.results = append(s.results, out)
}

func (s *sarif) Close(End) error {
	rules, results := []sarifRule{}, s.results
	for _, id := range s.rules {
		rules = append(rules, sarifRule{id})
	}
	if results == nil {
		results = []sarifResult{}
	}
	type driver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	type tool struct {
		Driver driver `json:"driver"`
	}
	type run struct {
		Tool       tool          `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	text, err := json.MarshalIndent(struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
		Runs    []run  `json:"runs"`
	}{
		"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0",
		[]run{{tool{driver{"fakeapi validate", s.version, "https://github.com/kubefake/kubefake", rules}}, "unicodeCodePoints", results}},
	}, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.w, escaped(text)+"\n")
	return err
}
