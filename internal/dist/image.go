package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// The media types of an OCI image.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// A descriptor refers to a blob of an image.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *imagePlatform    `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type imagePlatform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type imageIndex struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

type imageManifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

type imageConfig struct {
	imagePlatform
	Created time.Time       `json:"created"`
	Config  containerConfig `json:"config"`
	RootFS  rootFS          `json:"rootfs"`
}

type containerConfig struct {
	User         string              `json:"User"`
	ExposedPorts map[string]struct{} `json:"ExposedPorts"`
	Entrypoint   []string            `json:"Entrypoint"`
	Cmd          []string            `json:"Cmd"`
	Labels       map[string]string   `json:"Labels"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

// An image is the blobs of an image, in the order in which they were added.
type image struct{ blobs []entry }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// add adds a blob and returns its descriptor.
func (m *image) add(mediaType string, data []byte) descriptor {
	d := descriptor{MediaType: mediaType, Digest: digest(data), Size: len(data)}
	m.blobs = append(m.blobs, entry{"blobs/sha256/" + d.Digest[len("sha256:"):], 0o644, data})
	return d
}

// addJSON adds a blob in JSON.
func (m *image) addJSON(mediaType string, v any) descriptor {
	data, err := json.Marshal(v)
	must(err)
	return m.add(mediaType, data)
}

// addImage adds an OCI image layout with an image for each Linux platform. It has
// nothing but the executable.
func (d *dist) addImage(built map[platform][]byte) error {
	m := &image{}
	all := imageIndex{SchemaVersion: 2, MediaType: indexType}
	for _, p := range platforms {
		program := built[p]
		if p.os != "linux" || program == nil {
			continue
		}
		layer := tarball(d.time, []entry{{"fakeapi", 0o755, program}})
		on := imagePlatform{p.arch, p.os}
		config := m.addJSON(configType, imageConfig{
			imagePlatform: on, Created: d.time,
			Config: containerConfig{
				User: "65532:65532", ExposedPorts: map[string]struct{}{"8080/tcp": {}},
				Entrypoint: []string{"/fakeapi"}, Cmd: []string{"serve", "--listen", "0.0.0.0:8080"},
				Labels: map[string]string{"org.opencontainers.image.source": "https://github.com/kubefake/kubefake", "org.opencontainers.image.version": d.version},
			},
			RootFS: rootFS{"layers", []string{digest(layer)}},
		})
		manifest := m.addJSON(manifestType, imageManifest{2, manifestType, config, []descriptor{m.add(layerType, gzipped(layer))}})
		manifest.Platform = &on
		all.Manifests = append(all.Manifests, manifest)
	}
	if all.Manifests == nil {
		return nil
	}
	list := m.addJSON(indexType, all)
	list.Annotations = map[string]string{"org.opencontainers.image.ref.name": d.version}
	top, err := json.Marshal(imageIndex{2, indexType, []descriptor{list}})
	if err != nil {
		return err
	}
	entries := append([]entry{{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)}, {"index.json", 0o644, top}}, m.blobs...)
	d.files["fakeapi_image.tar"] = tarball(d.time, entries)
	return nil
}
