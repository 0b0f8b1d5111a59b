package packages

import (
	"cmp"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/conformance/moduleproxy"
)

// readYAML reads a file of the repository.
func readYAML(t *testing.T, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, v), name)
}

// A goreleaser is what .goreleaser.yaml says of the files of a release.
type goreleaser struct {
	Archives []struct {
		NameTemplate    string `json:"name_template"`
		Formats         []string
		FormatOverrides []struct{ Formats []string } `json:"format_overrides"`
	}
	Checksum struct {
		NameTemplate string `json:"name_template"`
		ExtraFiles   []struct{ Glob string }
	}
	Signs   []struct{ Artifacts, Signature string }
	Kos     []struct{ Repositories []string }
	Casks   []struct{ Name string } `json:"homebrew_casks"`
	Release struct {
		ExtraFiles []struct{ Glob string } `json:"extra_files"`
	}
}

// publishes reports whether a file is one that GoReleaser writes, or an extra file.
func (g *goreleaser) publishes(file string) bool {
	for _, a := range g.Archives {
		name := strings.NewReplacer("{{ .Os }}", "OS", "{{ .Arch }}", "ARCH").Replace(a.NameTemplate)
		for _, format := range a.Formats {
			if file == name+"."+format {
				return true
			}
		}
	}
	if file == g.Checksum.NameTemplate {
		return true
	}
	for _, s := range g.Signs {
		if s.Artifacts == "checksum" && file == strings.ReplaceAll(s.Signature, "${artifact}", g.Checksum.NameTemplate) {
			return true
		}
	}
	for _, extra := range g.Release.ExtraFiles {
		if ok, _ := path.Match(extra.Glob, "build/dist/"+file); ok {
			return true
		}
	}
	return false
}

// GoReleaser publishes each file in the table of docs/releases.md.
func TestPublishedFiles(t *testing.T) {
	var config goreleaser
	readYAML(t, ".goreleaser.yaml", &config)
	text, err := os.ReadFile("../../docs/releases.md")
	require.NoError(t, err)
	table, _, _ := strings.Cut(string(text), "\n## ")
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)`(, `(\\.\\w+)` for Windows)?").FindAllStringSubmatch(table, -1)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		assert.True(t, config.publishes(row[1]), row[1])
		if format := strings.TrimPrefix(row[3], "."); format != "" {
			assert.Equal(t, format, config.Archives[0].FormatOverrides[0].Formats[0], row[1])
		}
	}
	for _, extra := range config.Release.ExtraFiles {
		documented := false
		for _, row := range rows {
			ok, err := path.Match(extra.Glob, "build/dist/"+row[1])
			require.NoError(t, err)
			documented = documented || ok
		}
		assert.True(t, documented, "docs/releases.md does not have %s", extra.Glob)
	}
	for _, image := range config.Kos[0].Repositories {
		assert.Contains(t, string(text), "`"+image+"`")
	}
	assert.Contains(t, string(text), "/"+config.Casks[0].Name+"\n")
}

type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Uses           string
		Permissions    map[string]string
		TimeoutMinutes int `json:"timeout-minutes"`
		Steps          []struct{ Uses, Run string }
	}
}

// readWorkflows returns the workflows and their text, by file name.
func readWorkflows(t *testing.T) (map[string]workflow, map[string]string) {
	t.Helper()
	files, err := filepath.Glob("../../.github/workflows/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	parsed, texts := map[string]workflow{}, map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var w workflow
		require.NoError(t, yaml.Unmarshal(text, &w), file)
		parsed[filepath.Base(file)], texts[filepath.Base(file)] = w, string(text)
	}
	return parsed, texts
}

// Workflows use each action by the commit of one release.
func TestActionsArePinned(t *testing.T) {
	_, texts := readWorkflows(t)
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: (.+)$`)
	pinned := regexp.MustCompile(`^([\w-]+/[\w-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)$`)
	commits := map[string]string{}
	for name, text := range texts {
		for _, use := range uses.FindAllStringSubmatch(text, -1) {
			if strings.HasPrefix(use[1], "./") {
				continue
			}
			parts := pinned.FindStringSubmatch(use[1])
			if assert.NotNil(t, parts, "%s: %s", name, use[1]) {
				assert.Equal(t, cmp.Or(commits[parts[1]], parts[2]), parts[2], "%s: %s", name, parts[1])
				commits[parts[1]] = parts[2]
			}
		}
	}
	assert.NotEmpty(t, commits)
}

// Only a job that publishes may write, every job ends, and the scripts that jobs run exist.
func TestWorkflows(t *testing.T) {
	workflows, _ := readWorkflows(t)
	script := regexp.MustCompile(`(?m)^\.[\w./-]*/[\w-]+`)
	for name, w := range workflows {
		require.NotNil(t, w.Permissions, name)
		for scope, access := range w.Permissions {
			assert.Equal(t, "read", access, "%s: %s", name, scope)
		}
		for id, job := range w.Jobs {
			if local, ok := strings.CutPrefix(job.Uses, "./.github/workflows/"); ok {
				assert.Contains(t, workflows, local)
				continue
			}
			assert.NotZero(t, job.TimeoutMinutes, "%s: %s", name, id)
			assert.True(t, job.Permissions == nil || name == "release.yaml", "%s: %s", name, id)
			for _, step := range job.Steps {
				for _, file := range script.FindAllString(step.Run, -1) {
					info, err := os.Stat(filepath.Join("../..", file))
					if assert.NoError(t, err) {
						assert.NotZero(t, info.Mode()&0o111, file)
					}
				}
			}
		}
	}
}

// git runs git in a directory, and returns what it prints.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// tagRelease writes a repository whose tag v1.2.3 has what .github/tag-modules needs, and
// its origin.
func tagRelease(t *testing.T, root string) (repository string) {
	t.Helper()
	repository, origin := filepath.Join(t.TempDir(), "repository"), t.TempDir()
	git(t, origin, "init", "--quiet", "--bare")
	for _, name := range []string{"go.mod", "go.sum", ".github/tag-modules"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		file := filepath.Join(repository, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, data, 0o755))
	}
	const nested = "fakeapi/restconfig"
	require.NoError(t, os.CopyFS(filepath.Join(repository, nested), os.DirFS(filepath.Join(root, nested))))
	git(t, repository, "init", "--quiet", "--initial-branch=main")
	git(t, repository, "remote", "add", "origin", origin)
	git(t, repository, "add", ".")
	git(t, repository, "commit", "--quiet", "--message", "release")
	git(t, repository, "tag", "v1.2.3")
	git(t, repository, "push", "--quiet", "origin", "main", "v1.2.3")
	return repository
}

// The tag of a nested module has a go.mod that users can require: it has the version of
// the root module, and replaces nothing.
func TestTagModules(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	repository := tagRelease(t, root)
	proxy := t.TempDir()
	moduleproxy.Write(t, proxy, root, ".", "v1.2.3")
	proxies := []string{"file://" + proxy, "file://" + output(t, "go", "env", "GOMODCACHE") + "/cache/download", output(t, "go", "env", "GOPROXY")}
	env := append(os.Environ(), "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw", "GOWORK=off", "GONOSUMDB=github.com/kubefake", "GOPROXY="+strings.Join(proxies, ","))
	run(t, repository, env, ".github/tag-modules", "v1.2.3")
	run(t, repository, env, ".github/tag-modules", "v1.2.3") // what exists stays
	run(t, repository, env, "go", "-C", "fakeapi/restconfig", "list", "-deps", "./...")

	assert.Equal(t, "fakeapi/restconfig/go.mod\nfakeapi/restconfig/go.sum\n", git(t, repository, "diff", "--name-only", "v1.2.3", "fakeapi/restconfig/v1.2.3"))
	assert.Contains(t, git(t, repository, "ls-remote", "origin"), "refs/tags/fakeapi/restconfig/v1.2.3\n")
	mod := git(t, repository, "show", "fakeapi/restconfig/v1.2.3:fakeapi/restconfig/go.mod")
	assert.Contains(t, mod, "\tgithub.com/kubefake/kubefake v1.2.3\n")
	assert.NotContains(t, mod, "replace")
}

// npm publishes the packages with the executables before the one that depends on them,
// without those that exist, and a pre-release under a tag of its own.
func TestPublishNPM(t *testing.T) {
	needNode(t)
	const npm = `
case "$1 $2" in
"view @kubefake/darwin-x64@"*) echo exists ;;
publish*) echo "$@" >>"$LOG" ;;
esac
`
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	for version, tag := range map[string]string{"1.2.3": "latest", "1.2.3-rc.1": "next"} {
		packages := t.TempDir()
		env, log := fakeCommands(t, map[string]string{"npm": npm})
		tarball := func(name string) string { return filepath.Join(packages, name+"-"+version+".tgz") }
		for file, name := range map[string]string{"kubefake": "kubefake", "kubefake-darwin-x64": "@kubefake/darwin-x64", "kubefake-linux-x64": "@kubefake/linux-x64"} {
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "package"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "package/package.json"), []byte(`{"name":"`+name+`","version":"`+version+`"}`), 0o644))
			run(t, dir, os.Environ(), "tar", "-czf", tarball(file), "package")
		}
		run(t, packages, env, filepath.Join(root, ".github/publish-npm"), "v"+version, packages)
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		publish := "publish --access public --provenance --tag " + tag + " "
		assert.Equal(t, publish+tarball("kubefake-linux-x64")+"\n"+publish+tarball("kubefake")+"\n", string(text))
	}
}

// fakeCommands writes scripts that stand for commands, and returns an environment in which
// they are found. Each adds its arguments to the file that LOG names.
func fakeCommands(t *testing.T, scripts map[string]string) (env []string, log string) {
	t.Helper()
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	for name, script := range scripts {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o755))
	}
	return append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "LOG="+log), log
}

// cargo publishes the crates that the crate kubefake depends on before it, without those
// that exist.
func TestPublishCrates(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	env, log := fakeCommands(t, map[string]string{"cargo": `
case "$*" in
"info "*kubefake-linux-x86_64-1@1.2.3) ;;
info*) exit 101 ;;
publish*) shift 2; grep -q "^name" "$1" && echo "${1#"$TMPDIR"/*/} $2" >>"$LOG" ;;
esac
`})
	packages, temporary := t.TempDir(), t.TempDir()
	for _, name := range []string{"kubefake", "kubefake-linux-x86_64-1", "kubefake-linux-x86_64-2", "kubefake-macros"} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, name+"-1.2.3"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+"-1.2.3/Cargo.toml"), []byte("[package]\nname = \""+name+"\"\n"), 0o644))
		run(t, dir, os.Environ(), "tar", "-czf", filepath.Join(packages, name+"-1.2.3.crate"), name+"-1.2.3")
	}
	run(t, packages, append(env, "TMPDIR="+temporary), filepath.Join(root, ".github/publish-crates"), "v1.2.3", packages)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, "kubefake-linux-x86_64-2-1.2.3/Cargo.toml --no-verify\nkubefake-macros-1.2.3/Cargo.toml --no-verify\nkubefake-1.2.3/Cargo.toml --no-verify\n", string(text))
}

// What Maven Central gets is a bundle with both artifacts, and with a signature and two
// sums of each file. A version that exists is not uploaded.
func TestPublishMaven(t *testing.T) {
	for _, command := range []string{"unzip", "zip"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skipf("%s is not in PATH", command)
		}
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	env, log := fakeCommands(t, map[string]string{
		"curl": `
case "$*" in
*"--head "*/1.2.2/*) ;;
*"--head "*) exit 22 ;;
*) echo "$*" >>"$LOG"; unzip -Z1 bundle.zip | grep -v /$ >>"$LOG" ;;
esac
`,
		"gpg": `for file; do :; done; echo signature >"$file.asc"`,
		// mvn has compiled the library.
		"mvn": `
while [ "$1" != --file ]; do shift; done
dir=$(dirname "$2")
grep -q "<version>1.2.3</version>" "$2" && test -d "$dir/src/main/java" && mkdir "$dir/target" && cd "$dir/target"
touch kubefake-1.2.3.jar kubefake-1.2.3-sources.jar kubefake-1.2.3-javadoc.jar
`,
	})
	packages := t.TempDir()
	for _, name := range []string{"fakeapi-1.2.3-linux-x86_64.jar", "fakeapi-1.2.3.pom", "kubefake-1.2.3.pom"} {
		require.NoError(t, os.WriteFile(filepath.Join(packages, name), nil, 0o644))
	}
	env = append(env, "MAVEN_CENTRAL_TOKEN=user:password")
	publish := filepath.Join(root, ".github/publish-maven")
	run(t, packages, env, publish, "v1.2.2", packages)
	run(t, packages, env, publish, "v1.2.3", packages)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	assert.Contains(t, lines[0], "Bearer dXNlcjpwYXNzd29yZA== ")
	assert.Contains(t, lines[0], "name=kubefake-1.2.3&publishingType=AUTOMATIC")
	var want []string
	for _, name := range []string{"fakeapi-1.2.3-linux-x86_64.jar", "fakeapi-1.2.3.pom", "kubefake-1.2.3-javadoc.jar", "kubefake-1.2.3-sources.jar", "kubefake-1.2.3.jar", "kubefake-1.2.3.pom"} {
		artifact, _, _ := strings.Cut(name, "-")
		for _, extension := range []string{"", ".asc", ".md5", ".sha1"} {
			want = append(want, "io/github/kubefake/"+artifact+"/1.2.3/"+name+extension)
		}
	}
	assert.ElementsMatch(t, want, lines[1:])
}
