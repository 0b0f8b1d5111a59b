package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// testDist returns a dist of two platforms, whose executables are a few bytes.
func testDist(t *testing.T) *dist {
	t.Helper()
	d := &dist{version: "v1.2.3", url: "https://example.com/v1.2.3", time: time.Unix(1e9, 0).UTC(), source: os.DirFS("../.."), files: map[string][]byte{}}
	built := map[platform][]byte{}
	for _, p := range []platform{{"linux", "amd64"}, {"windows", "amd64"}} {
		built[p] = []byte("program")
		d.addArchives(p, built[p], []byte("license"), []byte("readme"))
		require.NoError(t, d.addWheel(p, built[p]))
		d.addNodeExecutable(p, built[p])
		d.addExecutableJar(p, built[p])
		require.NoError(t, d.addCrateExecutables(p, built[p]))
	}
	require.NoError(t, d.addNodeLibrary())
	require.NoError(t, d.addCrateLibraries())
	require.NoError(t, d.addProjects())
	require.NoError(t, d.addIndex([]platform{{"linux", "amd64"}, {"windows", "amd64"}}))
	require.NoError(t, d.addImage(built))
	return d
}

// untar returns the files of a tar archive, in their order.
func untar(t *testing.T, r io.Reader) (names []string, files map[string][]byte) {
	t.Helper()
	files = map[string][]byte{}
	for in := tar.NewReader(r); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return names, files
		}
		require.NoError(t, err)
		assert.Equal(t, time.Unix(1e9, 0).UTC(), header.ModTime.UTC(), header.Name)
		data, err := io.ReadAll(in)
		require.NoError(t, err)
		names, files[header.Name] = append(names, header.Name), data
	}
}

func gunzip(t *testing.T, data []byte) io.Reader {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	return r
}

func TestArchives(t *testing.T) {
	d := testDist(t)
	names, _ := untar(t, gunzip(t, d.files["fakeapi_linux_amd64.tar.gz"]))
	assert.Equal(t, []string{"fakeapi", "LICENSE", "README.md"}, names)
	names, _ = untar(t, gunzip(t, d.files["envtest_windows_amd64.tar.gz"]))
	assert.Equal(t, []string{"controller-tools/envtest/etcd.exe", "controller-tools/envtest/kube-apiserver.exe", "controller-tools/envtest/kubectl.exe"}, names)
	zipped := d.files["fakeapi_windows_amd64.zip"]
	z, err := zip.NewReader(bytes.NewReader(zipped), int64(len(zipped)))
	require.NoError(t, err)
	assert.Equal(t, "fakeapi.exe", z.File[0].Name)

	assert.Equal(t, d.files, testDist(t).files, "the same input gives the same bytes")
}

// unzip returns the files of a zip archive.
func unzip(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	files := map[string][]byte{}
	for _, f := range z.File {
		assert.True(t, time.Unix(1e9, 0).Equal(f.Modified), f.Name)
		assert.Equal(t, strings.Contains(f.Name, "fakeapi"), f.Mode()&0o111 != 0, "%s: %s", f.Name, f.Mode())
		r, err := f.Open()
		require.NoError(t, err)
		files[f.Name], err = io.ReadAll(r)
		require.NoError(t, err)
	}
	return files
}

func TestWheel(t *testing.T) {
	d := testDist(t)
	files := unzip(t, d.files["kubefake-1.2.3-py3-none-win_amd64.whl"])
	assert.Equal(t, "program", string(files["kubefake/bin/fakeapi.exe"]))
	name := "kubefake-1.2.3-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64.whl"
	require.Contains(t, d.files, name)
	files = unzip(t, d.files[name])
	assert.Equal(t, "program", string(files["kubefake/bin/fakeapi"]))
	assert.Contains(t, files, "kubefake/py.typed")
	const info = "kubefake-1.2.3.dist-info/"
	assert.Equal(t, "[pytest11]\nkubefake = kubefake.pytest_plugin\n", string(files[info+"entry_points.txt"]))
	assert.Contains(t, string(files[info+"WHEEL"]), "\nTag: py3-none-musllinux_1_1_x86_64\n")
	assert.Regexp(t, `(?s)^Metadata-Version: 2.1\nName: kubefake\nVersion: 1\.2\.3\n.*\nClassifier: Typing :: Typed\n.*\nRequires-Python: >=3.9\n.*\n\n# kubefake\n`, string(files[info+"METADATA"]))

	lines := strings.Split(strings.TrimSpace(string(files[info+"RECORD"])), "\n")
	assert.Len(t, lines, len(files))
	for _, line := range lines {
		name, rest, _ := strings.Cut(line, ",")
		require.Contains(t, files, name)
		if sum := sha256.Sum256(files[name]); name != info+"RECORD" {
			assert.Equal(t, fmt.Sprintf("sha256=%s,%d", base64.RawURLEncoding.EncodeToString(sum[:]), len(files[name])), rest)
		}
	}
}

func TestPythonVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3":               "1.2.3",
		"v1.2.3-rc.1":          "1.2.3rc1",
		"v1.2.3-beta2":         "1.2.3b2",
		"v0.0.0-snapshot":      "0.0.0.dev0+snapshot",
		"v0.0.0-2026-a1b2c3d4": "0.0.0.dev0+2026.a1b2c3d4",
	} {
		assert.Equal(t, want, pythonVersion(version), version)
	}
}

func TestNodePackages(t *testing.T) {
	d := testDist(t)
	var manifest struct {
		Name, Version        string
		OS, CPU              []string
		Scripts              map[string]string
		OptionalDependencies map[string]string
		Repository           struct{ URL string }
	}
	names, files := untar(t, gunzip(t, d.files["kubefake-win32-x64-1.2.3.tgz"]))
	assert.Equal(t, []string{"package/package.json", "package/bin/fakeapi.exe"}, names)
	require.NoError(t, json.Unmarshal(files["package/package.json"], &manifest))
	assert.Equal(t, []string{"win32", "x64"}, append(manifest.OS, manifest.CPU...))
	assert.Equal(t, "git+https://github.com/kubefake/kubefake.git", manifest.Repository.URL)
	platform := manifest.Name

	_, files = untar(t, gunzip(t, d.files["kubefake-1.2.3.tgz"]))
	assert.Contains(t, files, "package/src/index.js")
	assert.Contains(t, files, "package/src/index.d.ts")
	require.NoError(t, json.Unmarshal(files["package/package.json"], &manifest))
	assert.Equal(t, "kubefake 1.2.3", manifest.Name+" "+manifest.Version)
	assert.Len(t, manifest.OptionalDependencies, len(platforms))
	assert.Equal(t, "1.2.3", manifest.OptionalDependencies[platform])
	assert.Empty(t, manifest.Scripts)
}

// A crate of a platform has a part of the executable, and the crate kubefake the crates of
// all platforms as optional dependencies.
func TestCrates(t *testing.T) {
	d := testDist(t)
	var program []byte
	for _, part := range []string{"1", "2"} {
		root := "kubefake-windows-x86_64-" + part + "-1.2.3"
		_, files := untar(t, gunzip(t, d.files[root+".crate"]))
		assert.Contains(t, string(files[root+"/Cargo.toml"]), "name = \"kubefake-windows-x86_64-"+part+"\"\nversion = \"1.2.3\"\n")
		program = append(program, files[root+"/src/part"]...)
	}
	assert.Equal(t, "program", string(program))

	_, files := untar(t, gunzip(t, d.files["kubefake-1.2.3.crate"]))
	manifest := string(files["kubefake-1.2.3/Cargo.toml"])
	assert.Contains(t, manifest, "\nversion = \"1.2.3\"\n")
	assert.Contains(t, manifest, "\nkubefake-macros = \"=1.2.3\"\n")
	assert.Contains(t, manifest, "[target.'cfg(all(target_os = \"windows\", target_arch = \"x86_64\"))'.dependencies]\nkubefake-windows-x86_64-1 = { version = \"=1.2.3\", optional = true }\n")
	assert.NotRegexp(t, `path = |\[workspace\]|\[\[test\]\]|dev-dependencies`, manifest)
	assert.Equal(t, crateParts*len(platforms), strings.Count(manifest, `"dep:kubefake-`))
	assert.Contains(t, string(files["kubefake-1.2.3/src/embedded.rs"]), "[kubefake_windows_x86_64_1::PART, kubefake_windows_x86_64_2::PART]")
	_, files = untar(t, gunzip(t, d.files["kubefake-macros-1.2.3.crate"]))
	assert.Contains(t, files, "kubefake-macros-1.2.3/src/lib.rs")

	random := make([]byte, crateParts*(crateLimit+1))
	_, err := rand.NewChaCha8([32]byte{}).Read(random)
	require.NoError(t, err)
	assert.ErrorContains(t, d.addCrateExecutables(platform{"linux", "amd64"}, random), "crates.io takes 10485760")
}

// A jar has the executable of a platform, and Maven takes that of the machine.
func TestMavenArtifacts(t *testing.T) {
	d := testDist(t)
	files := unzip(t, d.files["fakeapi-1.2.3-windows-x86_64.jar"])
	const folder = "io/github/kubefake/bin/windows-x86_64/"
	assert.Equal(t, "program", string(files[folder+"fakeapi.exe"]))
	assert.Equal(t, fmt.Sprintf("%x\n", sha256.Sum256([]byte("program"))), string(files[folder+"sha256"]))

	type project struct {
		ArtifactID string `xml:"artifactId"`
		Version    string `xml:"version"`
		Packaging  string `xml:"packaging"`
		License    string `xml:"licenses>license>name"`
		Profiles   []struct {
			OS struct {
				Name, Family string
				Arch         string `xml:"arch"`
			} `xml:"activation>os"`
			Dependency struct {
				Version    string `xml:"version"`
				Classifier string `xml:"classifier"`
			} `xml:"dependencies>dependency"`
		} `xml:"profiles>profile"`
	}
	var library, executables project
	require.NoError(t, xml.Unmarshal(d.files["kubefake-1.2.3.pom"], &library))
	require.NoError(t, xml.Unmarshal(d.files["fakeapi-1.2.3.pom"], &executables))
	assert.Equal(t, "kubefake 1.2.3", library.ArtifactID+" "+library.Version)
	require.Len(t, library.Profiles, len(platforms))
	for i, profile := range library.Profiles {
		assert.Equal(t, platforms[i].classifier(), profile.Dependency.Classifier)
		assert.Equal(t, "1.2.3", profile.Dependency.Version)
		assert.NotEmpty(t, profile.OS.Arch)
	}
	assert.Equal(t, project{ArtifactID: "fakeapi", Version: "1.2.3", Packaging: "pom", License: "Apache-2.0"}, executables)
}

// The bill of materials has the modules of an executable.
func TestBillOfMaterials(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	program, err := os.ReadFile(self)
	require.NoError(t, err)
	d := &dist{version: "v1.2.3", files: map[string][]byte{}}
	require.NoError(t, d.addBill(platform{"linux", "amd64"}, program))
	var sbom bom
	require.NoError(t, json.Unmarshal(d.files["fakeapi_linux_amd64.cdx.json"], &sbom))
	assert.True(t, slices.ContainsFunc(sbom.Components, func(c component) bool {
		return strings.HasPrefix(c.PURL, "pkg:golang/sigs.k8s.io/yaml@v1")
	}))
}

func TestIndex(t *testing.T) {
	d := testDist(t)
	var in index
	require.NoError(t, yaml.Unmarshal(d.files["envtest-releases.yaml"], &in))
	assert.Greater(t, len(in.Releases), 4)
	for version, archives := range in.Releases {
		assert.Regexp(t, `^v1\.\d+\.\d+$`, version)
		assert.Len(t, archives, 2)
		sum := sha512.Sum512(d.files["envtest_linux_amd64.tar.gz"])
		assert.Equal(t, archive{hex.EncodeToString(sum[:]), "https://example.com/v1.2.3/envtest_linux_amd64.tar.gz"}, archives["envtest-"+version+"-linux-amd64.tar.gz"])
	}
}

// Each descriptor of the image has the digest and the size of a blob.
func TestImage(t *testing.T) {
	d := testDist(t)
	_, files := untar(t, bytes.NewReader(d.files["fakeapi_image.tar"]))
	blob := func(of descriptor, v any) []byte {
		t.Helper()
		data := files["blobs/sha256/"+strings.TrimPrefix(of.Digest, "sha256:")]
		assert.Equal(t, of.Digest, digest(data))
		assert.Len(t, data, of.Size)
		if v != nil {
			require.NoError(t, json.Unmarshal(data, v))
		}
		return data
	}
	var top, list imageIndex
	require.NoError(t, json.Unmarshal(files["index.json"], &top))
	blob(top.Manifests[0], &list)
	require.Len(t, list.Manifests, 1, "an image for each Linux platform")
	assert.Equal(t, &imagePlatform{"amd64", "linux"}, list.Manifests[0].Platform)
	var manifest imageManifest
	blob(list.Manifests[0], &manifest)
	var config imageConfig
	blob(manifest.Config, &config)
	assert.Equal(t, []string{"/fakeapi"}, config.Config.Entrypoint)
	layer, err := io.ReadAll(gunzip(t, blob(manifest.Layers[0], nil)))
	require.NoError(t, err)
	assert.Equal(t, []string{digest(layer)}, config.RootFS.DiffIDs)
	names, _ := untar(t, bytes.NewReader(layer))
	assert.Equal(t, []string{"fakeapi"}, names)
	assert.JSONEq(t, `{"imageLayoutVersion":"1.0.0"}`, string(files["oci-layout"]))
}

// .goreleaser.yaml builds the same executables as dist.
func TestGoReleaser(t *testing.T) {
	text, err := os.ReadFile("../../.goreleaser.yaml")
	require.NoError(t, err)
	var config struct {
		Version int
		Builds  []struct {
			Main         string
			Env          []string
			Goos, Goarch []string
			Flags        []string
			Ldflags      []string
			ModTimestamp string `json:"mod_timestamp"`
		}
		Release struct {
			ExtraFiles []struct{ Glob string } `json:"extra_files"`
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	assert.Equal(t, 2, config.Version)
	require.Len(t, config.Builds, 1)
	b := config.Builds[0]
	var all []platform
	for _, goos := range b.Goos {
		for _, goarch := range b.Goarch {
			all = append(all, platform{goos, goarch})
		}
	}
	assert.Equal(t, platforms, all)
	assert.Equal(t, "./cmd/fakeapi", b.Main)
	assert.Contains(t, b.Env, "CGO_ENABLED=0")
	assert.Equal(t, []string{"-trimpath", "-buildvcs=false"}, b.Flags)
	assert.Equal(t, []string{"-s -w -X main.version={{ .Tag }}"}, b.Ldflags)
	assert.Equal(t, "{{ .CommitTimestamp }}", b.ModTimestamp)

	for name := range testDist(t).files {
		uploaded := regexp.MustCompile(`^fakeapi_[a-z]+_[a-z0-9]+\.(tar\.gz|zip)$`).MatchString(name) // GoReleaser builds it
		for _, extra := range config.Release.ExtraFiles {
			matches, err := path.Match(extra.Glob, "build/dist/"+name)
			require.NoError(t, err)
			uploaded = uploaded || matches
		}
		assert.True(t, uploaded, name)
	}
}
