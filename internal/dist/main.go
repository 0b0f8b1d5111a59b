// Dist builds what a release consists of, from a checkout and without a network if the
// module cache is filled: for each platform an archive of fakeapi, an archive for
// setup-envtest, a software bill of materials, a Python wheel, and an npm package, a jar and
// crates with the executable, and for all of them the index of setup-envtest, an OCI image,
// the npm package and the crates of the clients, Maven projects and checksums. The same
// commit and the same Go version give the same bytes.
//
//	go run ./internal/dist -out dist
//	go run ./internal/dist -platforms linux/amd64 -version v0.0.1 -url http://127.0.0.1:8000
package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A platform is an operating system and an architecture, by their names in Go.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// platforms are those of a release. .goreleaser.yaml has the same.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// executable returns the file name of a program.
func (p platform) executable(name string) string {
	if p.os == "windows" {
		return name + ".exe"
	}
	return name
}

// A dist is a release that is built.
type dist struct {
	out        string // a directory
	version    string
	executable string    // that is built already, for the only platform; "" builds it
	url        string    // of the folder that will have the files
	time       time.Time // of all files
	source     fs.FS     // the checkout

	files map[string][]byte // that are written, by their names
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("dist: ")
	d := &dist{source: os.DirFS("."), files: map[string][]byte{}}
	flag.StringVar(&d.out, "out", "dist", "write to `DIR`")
	flag.StringVar(&d.version, "version", "v0.0.0-snapshot", "build `VERSION`")
	flag.StringVar(&d.url, "url", "", "let the index of setup-envtest name files below `URL` (default that of the release on GitHub)")
	flag.StringVar(&d.executable, "executable", "", "take `FILE` for the only platform, and do not build it")
	selected := flag.String("platforms", "", "build only these `PLATFORMS`: linux/amd64,...")
	flag.Parse()
	d.url = strings.TrimSuffix(cmp.Or(d.url, "https://github.com/kubefake/kubefake/releases/download/"+d.version), "/")
	if err := d.build(*selected); err != nil {
		log.Fatal(err)
	}
}

// build builds the selected platforms, all if the text is empty.
func (d *dist) build(selected string) error {
	targets := platforms
	if selected != "" {
		targets = nil
		for _, name := range strings.Split(selected, ",") {
			i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
			if i < 0 {
				return fmt.Errorf("unknown platform %q", name)
			}
			targets = append(targets, platforms[i])
		}
	}
	if d.executable != "" && len(targets) != 1 {
		return errors.New("-executable needs one platform")
	}
	var err error
	if d.time, err = commitTime(); err != nil {
		return err
	}
	license, err := fs.ReadFile(d.source, "LICENSE")
	if err != nil {
		return err
	}
	readme, err := fs.ReadFile(d.source, "README.md")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(d.out, 0o755); err != nil {
		return err
	}
	built := map[platform][]byte{}
	for _, p := range targets {
		program, err := d.compile(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		built[p] = program
		d.addArchives(p, program, license, readme)
		if err := d.addBill(p, program); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if err := d.addWheel(p, program); err != nil {
			return err
		}
		d.addNodeExecutable(p, program)
		d.addExecutableJar(p, program)
		if err := d.addCrateExecutables(p, program); err != nil {
			return err
		}
	}
	for _, add := range []func() error{d.addNodeLibrary, d.addProjects, d.addCrateLibraries} {
		if err := add(); err != nil {
			return err
		}
	}
	if err := d.addIndex(targets); err != nil {
		return err
	}
	if err := d.addImage(built); err != nil {
		return err
	}
	return d.write()
}

// commitTime returns SOURCE_DATE_EPOCH, or the time of the commit of the checkout.
func commitTime() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("git log: %w; SOURCE_DATE_EPOCH takes its place", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// compile returns the executable of a platform. It is static, and has no paths of the
// machine that builds it.
func (d *dist) compile(p platform) ([]byte, error) {
	if d.executable != "" {
		return os.ReadFile(d.executable)
	}
	name := filepath.Join(d.out, p.executable("fakeapi-"+p.os+"-"+p.arch))
	defer os.Remove(name)
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+d.version, "-o", name, "./cmd/fakeapi")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOOS="+p.os, "GOARCH="+p.arch)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// number returns the version without its first letter.
func (d *dist) number() string { return strings.TrimPrefix(d.version, "v") }

// name returns the name of the files of a platform, without an extension.
func (p platform) name() string { return "fakeapi_" + p.os + "_" + p.arch }

// addArchives adds the archives of a platform.
func (d *dist) addArchives(p platform, program, license, readme []byte) {
	entries := []entry{{p.executable("fakeapi"), 0o755, program}, {"LICENSE", 0o644, license}, {"README.md", 0o644, readme}}
	if p.os == "windows" {
		d.files[p.name()+".zip"] = zipped(d.time, entries)
	} else {
		d.files[p.name()+".tar.gz"] = tarGzip(d.time, entries)
	}
	d.files[envtestArchive(p)] = tarGzip(d.time, envtestEntries(p, program))
}

// addBill adds the software bill of materials of a platform.
func (d *dist) addBill(p platform, program []byte) error {
	text, err := billOfMaterials(program, d.version)
	d.files[p.name()+".cdx.json"] = text
	return err
}

// write writes the files and their checksums.
func (d *dist) write() error {
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if err := os.WriteFile(filepath.Join(d.out, name), d.files[name], 0o644); err != nil {
			return err
		}
		sum := sha256.Sum256(d.files[name])
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	return os.WriteFile(filepath.Join(d.out, "checksums.txt"), []byte(sums.String()), 0o644)
}
