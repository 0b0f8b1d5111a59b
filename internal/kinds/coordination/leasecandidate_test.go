package coordination_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateLeaseCandidates(t *testing.T) {
	const valid = `{"spec":{"leaseName":"a","binaryVersion":"1.36.0","emulationVersion":"1.35.0","strategy":"OldestEmulationVersion"}}`
	kindtest.TestValidation(t, "leasecandidates.coordination.k8s.io", []kindtest.ValidationRow{
		{"valid", "", valid, ""},
		{"empty", "", `{}`, "[spec.leaseName: Required value, spec.binaryVersion: Required value, spec.strategy: Required value]"},
		{"versions", "", `{"spec":{"leaseName":"a","binaryVersion":"1.36","emulationVersion":"v1","strategy":"a.b/c"}}`, `[spec.emulationVersion: Invalid value: "v1": must be a valid semantic version, spec.binaryVersion: Invalid value: "1.36": must be a valid semantic version]`},
		{"newer than its binary", "", `{"spec":{"leaseName":"a","binaryVersion":"1.34.0","emulationVersion":"1.35.0","strategy":"a.b/c"}}`, "spec.binaryVersion: Invalid value: \"1.34.0\": must be greater than or equal to `emulationVersion`"},
		{"no emulation", "", `{"spec":{"leaseName":"a","binaryVersion":"1.34.0","strategy":"OldestEmulationVersion"}}`, "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'"},
		{"unqualified strategy", "", `{"spec":{"leaseName":"a","binaryVersion":"1.34.0","strategy":"a/b/c"}}`, `spec.strategy.strategy: Invalid value: "a/b/c": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`},
		{"other lease", valid, `{"spec":{"leaseName":"b","binaryVersion":"1.36.0","emulationVersion":"1.35.0","strategy":"OldestEmulationVersion"}}`, `spec.leaseName: Invalid value: "b": field is immutable`},
	})
}
