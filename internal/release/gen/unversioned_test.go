package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDescribeUnversioned(t *testing.T) {
	dir := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(dir, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("meta/types.go", "package v1\n"+
		"type TypeMeta struct { Kind string `json:\"kind,omitempty\"` }\n"+
		"type ObjectMeta struct { Name string `json:\"name,omitempty\"`; Labels map[string]string `json:\"labels,omitempty\"` }\n")
	write("core/types.go", `package core
type Pod struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec PodSpec
}
type PodList struct { Items []Pod }
type Policy string
type PodSpec struct {
	Volumes  []Volume
	Policy   *Policy
	Overhead map[Policy]resource.Quantity
	Started  *metav1.Time
	Port     intstr.IntOrString
	TTY      bool
	Data     []byte
	any
}
type Volume struct {
	Name string
	Source
}
type Source struct { RBDImage string; Size int64 }
`)
	write("core/v1/types.go", "package v1\n"+
		"type PodSpec struct { TTY bool `json:\"tty,omitempty\"`; Volumes []Volume }\n"+
		"type Source struct { RBDImage string `json:\"image\"` }\n")
	write("core/v1beta1/types.go", "package v1beta1\n"+
		"type Source struct { RBDImage string `json:\"imageOfBeta\"` }\n"+
		"type Volume struct { Name string `json:\"volumeName\"` }\n")
	write("core/types_test.go", "not Go")

	packages := []goPackage{
		{"metav1", filepath.Join(dir, "meta"), []string{filepath.Join(dir, "meta")}},
		{"core", filepath.Join(dir, "core"), []string{filepath.Join(dir, "core", "v1"), filepath.Join(dir, "core", "v1beta1")}},
	}
	text, err := describeUnversioned(packages)
	require.NoError(t, err)
	assert.Equal(t, `core.Pod	name metadata.name s, metav1.ObjectMeta/Name	labels metadata.labels {}s, metav1.ObjectMeta/Labels	Spec spec core.PodSpec
core.PodSpec	Volumes volumes []core.Volume	Policy policy *core.Policy=s	Overhead overhead {}q	Started started *t	Port port o	TTY tty b	Data data []byte=a
core.Source	RBDImage image s	Size size int64=i
core.Volume	Name volumeName s	RBDImage image s core.Source/RBDImage	Size size int64=i core.Source/Size
metav1.ObjectMeta	name name s,	labels labels {}s,
metav1.TypeMeta	kind kind s,
`, string(text))

	write("core/types.go", "not Go")
	_, err = describeUnversioned(packages)
	assert.Error(t, err)
	_, err = describeUnversioned([]goPackage{{"apps", filepath.Join(dir, "apps"), []string{filepath.Join(dir, "apps")}}})
	assert.EqualError(t, err, "no types in "+filepath.Join(dir, "apps"))
}
