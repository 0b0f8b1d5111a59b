package storagemigration_test

import (
	"strings"
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

const migrations = "storageversionmigrations.storagemigration.k8s.io"

func TestValidateStorageVersionMigrations(t *testing.T) {
	const valid = `{"metadata":{"name":"a"},"spec":{"resource":{"group":"apps","resource":"deployments"}}}`
	kindtest.TestPatched(t, migrations, valid, []kindtest.PatchRow{
		{"legacy group", `{"spec":{"resource":{"group":null}}}`, ""},
		{"no resource", `{"spec":{"resource":{"resource":null}}}`, "spec.resource.resource: Required value: resource is required to be set"},
		{"names", `{"spec":{"resource":{"group":"A","resource":"a/b"}}}`, kindtest.Errors(
			`spec.resource.resource: Invalid value: "a/b": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
			`spec.resource.group: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`)},
	})
	kindtest.TestPatchedUpdates(t, migrations, valid, []kindtest.PatchRow{
		{"labels", `{"metadata":{"labels":{"a":"b"}}}`, ""},
		{"resource", `{"spec":{"resource":{"group":null}}}`, `spec: Invalid value: {"Resource":{"group":"","resource":"deployments"}}: field is immutable`},
	})
}

func TestValidateStorageVersionMigrationStatus(t *testing.T) {
	condition := func(typ, status string) string {
		return `{"type":"` + typ + `","status":"` + status + `","reason":"R","lastTransitionTime":"2024-01-02T03:04:05Z"}`
	}
	printed := func(typ, status string) string {
		return `{"type":"` + typ + `","status":"` + status + `","lastTransitionTime":"2024-01-02T03:04:05Z","reason":"R","message":""}`
	}
	status := func(version string, conditions ...string) string {
		return `{"status":{"resourceVersion":"` + version + `","conditions":[` + strings.Join(conditions, ",") + `]}}`
	}
	const version, conditions = "status.resourceVersion: Invalid value: ", "status.conditions: Invalid value: "
	kindtest.TestStatusValidation(t, migrations, []kindtest.ValidationRow{
		{"version", `{}`, status("12"), ""},
		{"version 0", `{}`, status("0"), version + `"0": resource version is not well formed: 0`},
		{"no number", `{}`, status("1x"), version + `"1x": resource version is not well formed: 1x`},
		{"another version", status("12"), status("13"), version + `"13": field is immutable`},
		{"running", `{}`, status("12", condition("Running", "True")), ""},
		{"both ends", `{}`, status("12", condition("Succeeded", "True"), condition("Failed", "True")),
			conditions + "[" + printed("Succeeded", "True") + "," + printed("Failed", "True") + "]: Both success and failed conditions cannot be true at the same time"},
		{"no success any more", status("12", condition("Succeeded", "True")), status("12", condition("Succeeded", "False")),
			conditions + "[" + printed("Succeeded", "False") + "]: Success condition cannot be set to false once it is true"},
		{"no failure any more", status("12", condition("Failed", "True")), status("12"), conditions + "[]: Failed condition cannot be set to false once it is true"},
	})
}
