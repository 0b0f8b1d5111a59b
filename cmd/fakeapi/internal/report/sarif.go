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
	RuleID    string          `json:"ruleId"`
	Level     string          `json:"level"`
	Message   sarifMessage    `json:"message"`
	Locations []sarifLocation `json:"locations"`
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
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Severity == manifests.Note {
			continue
		}
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
		s.results = append(s.results, sarifResult{f.Reason, f.Severity.String(), sarifMessage{name + f.Message + forReleases(f)}, []sarifLocation{at}})
	}
	return nil
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
