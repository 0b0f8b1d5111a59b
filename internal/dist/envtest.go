package main

import (
	"crypto/sha512"
	"encoding/hex"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/release"
)

// envtestArchive returns the name of the archive of a platform for setup-envtest.
func envtestArchive(p platform) string { return "envtest_" + p.os + "_" + p.arch + ".tar.gz" }

// envtestEntries returns the executables that envtest starts. They are the same program,
// which goes by its name. setup-envtest ignores links.
func envtestEntries(p platform, program []byte) []entry {
	var out []entry
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		out = append(out, entry{"controller-tools/envtest/" + p.executable(name), 0o755, program})
	}
	return out
}

// An index is the index of setup-envtest, as controller-tools has it.
type index struct {
	Releases map[string]map[string]archive `json:"releases"`
}

// An archive is one of executables.
type archive struct {
	Hash     string `json:"hash"` // SHA-512 in hexadecimal digits
	SelfLink string `json:"selfLink"`
}

// addIndex adds the index of setup-envtest. It has every patch of the Kubernetes releases
// up to the one that is served, all with the same archive of a platform: the executables
// serve the minor release in the name of their folder.
func (d *dist) addIndex(targets []platform) error {
	in := index{map[string]map[string]archive{}}
	archives := map[platform]archive{}
	for _, p := range targets {
		sum := sha512.Sum512(d.files[envtestArchive(p)])
		archives[p] = archive{hex.EncodeToString(sum[:]), d.url + "/" + envtestArchive(p)}
	}
	for _, name := range release.Names() {
		minor, last, ok := cutLast(name, ".")
		newest, err := strconv.Atoi(last)
		if !ok || err != nil || strings.Count(minor, ".") != 1 {
			continue // "v1.36" is another name of one that has a patch
		}
		for patch := range newest + 1 {
			version := minor + "." + strconv.Itoa(patch)
			in.Releases[version] = map[string]archive{}
			for _, p := range targets {
				in.Releases[version]["envtest-"+version+"-"+p.os+"-"+p.arch+".tar.gz"] = archives[p]
			}
		}
	}
	text, err := yaml.Marshal(in)
	d.files["envtest-releases.yaml"] = text
	return err
}

// cutLast cuts a text around the last separator.
func cutLast(text, separator string) (before, after string, ok bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}
