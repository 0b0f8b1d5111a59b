package pods

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestImageTag(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("a", 64)
	for image, want := range map[string]string{
		"nginx": "latest", "nginx:latest": "latest", "nginx:1.25": "1.25", "a/b": "latest", "a:LATEST": "LATEST",
		"localhost/a:1": "1", "localhost:5000/a": "latest", "localhost:5000": "5000", "reg.io:80/a/b:1": "1",
		"Foo/bar": "latest", "Foo.io/a": "latest", "[::1]:5000/a:1": "1", "f_oo.io/a": "latest", "a..b": "",
		"a.b": "latest", "a__b": "latest", "a___b": "", "a--b": "latest", "a.-b": "",
		"a" + digest: "", "a:latest" + digest: "latest", "a@sha256:aa": "", "a@b@c": "", "a@md5:" + strings.Repeat("a", 32): "",
		"": "", "Foo": "", "foo/Bar": "", "-a": "", "a-": "", "a:": "", "a:-b": "", "a/": "", "/a": "", "a//b": "", "x:y:z": "",
		"http://a/b": "", "reg.io:x/a": "", "-.io/a": "", "[x]/a": "", "f_O.io/a": "",
		strings.Repeat("a", 64): "", strings.Repeat("z", 64): "latest", strings.Repeat("a", 256): "",
		strings.Repeat("z", 237): "latest", strings.Repeat("z", 238): "", "a/" + strings.Repeat("z", 243): "latest", "a/" + strings.Repeat("z", 244): "",
		"r.io/" + strings.Repeat("z", 250): "latest", "r.io/" + strings.Repeat("z", 251): "",
	} {
		assert.Equal(t, want, imageTag(image), image)
	}
}

// FuzzImageTag checks that a returned tag is valid and part of the reference.
func FuzzImageTag(f *testing.F) {
	f.Add("nginx:1.25")
	f.Add("reg.io:80/a/b@sha256:" + strings.Repeat("a", 64))
	f.Add("[::1]:5000/a_-b")
	f.Fuzz(func(t *testing.T, image string) {
		if tag := imageTag(image); tag != "" && tag != "latest" {
			assert.True(t, isTag(tag))
			assert.Contains(t, image, ":"+tag)
		}
	})
}
