package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
)

// A bom is a software bill of materials in CycloneDX's format.
type bom struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

// A component is a Go module.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

func newComponent(kind, module, version string) component {
	url := "pkg:golang/" + module + "@" + version
	return component{kind, url, module, version, url}
}

// billOfMaterials returns the modules that an executable is built from, as it lists them
// itself, and the standard library.
func billOfMaterials(program []byte, version string) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, err
	}
	out := bom{"CycloneDX", "1.5", 1, metadata{newComponent("application", info.Main.Path, version)}, []component{newComponent("library", "std", info.GoVersion)}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		out.Components = append(out.Components, newComponent("library", m.Path, m.Version))
	}
	return json.MarshalIndent(out, "", "  ")
}
