package core_test

import (
	"strings"
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCreateConfigMap(t *testing.T) {
	kindtest.TestCreates(t, "configmaps", []kindtest.Row{{"data is unchanged", `{"data":{"a":"b"},"immutable":true}`, "data", `{"a":"b"}`}})
}

// immutableDetail is the error for a change of an immutable Secret or ConfigMap.
const immutableDetail = "field is immutable when `immutable` is set"

func TestValidateConfigMaps(t *testing.T) {
	kindtest.TestValidation(t, "configmaps", []kindtest.ValidationRow{
		{"valid", "", `{"data":{"a":"b"},"binaryData":{"c":"ZA=="}}`, ""},
		{"key in data and binaryData", "", `{"data":{"a":"b"},"binaryData":{"a":"ZA=="}}`, `data[a]: Invalid value: "a": duplicate of key present in binaryData`},
		{"key ..", "", `{"data":{"..":"b"}}`, `data[..]: Invalid value: "..": must not be '..'`},
		{"too long", "", `{"data":{"a":"` + strings.Repeat("x", 1<<20+1) + `"}}`, "[]: Too long: may not be more than 1048576 bytes"},
		{"changed immutable data", `{"metadata":{"name":"a","resourceVersion":"1"},"immutable":true,"data":{"a":"b"}}`, `{"metadata":{"name":"a","namespace":"n","resourceVersion":"1"},"data":{"a":"c"},"binaryData":{"b":"ZA=="}}`,
			"[immutable: Forbidden: " + immutableDetail + ", data: Forbidden: " + immutableDetail + ", binaryData: Forbidden: " + immutableDetail + "]"},
		{"unchanged immutable data", `{"immutable":true,"data":{}}`, `{"metadata":{"name":"a","namespace":"n"},"immutable":true}`, ""},
	})
}
