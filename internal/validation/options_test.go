//go:build go1.26

package validation_test

import (
	"strings"
	"testing"

	"github.com/kubefake/kubefake/internal/validation"
)

func TestOptions(t *testing.T) {
	type (
		write  = validation.WriteOptions
		patch  = validation.PatchOptions
		remove = validation.DeleteOptions
		list   = validation.ListOptions
	)
	const (
		unlessVersion = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"
		withContinue  = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"
		unlessSend    = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
		needsMatch    = "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
		forList       = "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"
	)
	runListCases(t, []listCase{
		{"write", write{FieldManager: "m", DryRun: []string{"All"}, FieldValidation: "Strict"}.Validate(), nil},
		{"write without parameters", write{}.Validate(), nil},
		{"empty dry run", write{DryRun: []string{""}}.Validate(), []string{`dryRun: Unsupported value: [""]: supported values: "All"`}},
		{"dry run of one wrong value", write{DryRun: []string{"All", "None"}}.Validate(), []string{`dryRun: Unsupported value: ["All","None"]: supported values: "All"`}},
		{"everything wrong, in order", write{FieldManager: "bad\nname", DryRun: []string{"x"}, FieldValidation: "strict"}.Validate(), []string{
			`fieldManager: Invalid value: "bad\nname": invalid character U+000A (at position 3)`,
			`dryRun: Unsupported value: ["x"]: supported values: "All"`,
			`fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn"`,
		}},
		{"long manager", write{FieldManager: strings.Repeat("m", 129)}.Validate(), []string{"fieldManager: Too long: may not be more than 128 bytes"}},

		{"apply", patch{WriteOptions: write{FieldManager: "m"}, Force: new(true), Apply: true}.Validate(), nil},
		{"apply without a manager", patch{Apply: true}.Validate(), []string{"fieldManager: Required value: is required for apply patch"}},
		{"force without apply", patch{Force: new(false)}.Validate(), []string{"force: Forbidden: may not be specified for non-apply patch"}},

		{"delete", remove{PropagationPolicy: new("Foreground"), DryRun: []string{"All"}}.Validate(), nil},
		{"unknown propagation policy", remove{PropagationPolicy: new("Sideways")}.Validate(), []string{`propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"`}},
		{"propagationPolicy and orphanDependents", remove{PropagationPolicy: new("Orphan"), OrphanDependents: new(true)}.Validate(), []string{`propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set`}},

		{"list", list{ResourceVersion: "1", ResourceVersionMatch: "Exact"}.Validate(), nil},
		{"list with match and without version", list{ResourceVersionMatch: "Exact", Continue: "abc"}.Validate(), []string{unlessVersion, withContinue}},
		{"list with exact match of 0", list{ResourceVersion: "0", ResourceVersionMatch: "Exact"}.Validate(), []string{`resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`}},
		{"list with unknown match", list{ResourceVersion: "1", ResourceVersionMatch: "exact"}.Validate(), []string{`resourceVersionMatch: Unsupported value: "exact": supported values: "Exact", "NotOlderThan", ""`}},
		{"list with initial events", list{ResourceVersionMatch: "NotOlderThan", SendInitialEvents: new(false)}.Validate(), []string{unlessVersion, forList}},

		{"watch", list{Watch: true, ResourceVersionMatch: "NotOlderThan", SendInitialEvents: new(true)}.Validate(), nil},
		{"watch with only continue", list{Watch: true, Continue: "abc"}.Validate(), nil},
		{"watch with only initial events", list{Watch: true, SendInitialEvents: new(false)}.Validate(), []string{needsMatch}},
		{"watch with exact match", list{Watch: true, ResourceVersionMatch: "Exact", ResourceVersion: "1", SendInitialEvents: new(true)}.Validate(), []string{
			needsMatch, `resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"`,
		}},
		{"watch with match and continue", list{Watch: true, ResourceVersionMatch: "NotOlderThan", Continue: "abc"}.Validate(), []string{unlessSend, withContinue}},

		{"table of metadata", validation.IncludeObject("Metadata"), nil},
		{"table with an unknown value", validation.IncludeObject("none"), []string{`includeObject: Invalid value: "none": must be 'Metadata', 'Object', 'None', or empty`}},
	})
}
