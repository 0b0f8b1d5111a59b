package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
)

// mavenOS and mavenArch are the names that classifiers of Maven artifacts have for
// operating systems and architectures, where they differ from those of Go.
var (
	mavenOS   = map[string]string{"darwin": "osx"}
	mavenArch = map[string]string{"amd64": "x86_64", "arm64": "aarch_64"}
)

// mavenActivations are the conditions under which Maven takes the profile of a platform:
// the system properties os.name and os.arch of Java.
var mavenActivations = map[platform]string{
	{"linux", "amd64"}:   "<name>linux</name><arch>amd64</arch>",
	{"linux", "arm64"}:   "<name>linux</name><arch>aarch64</arch>",
	{"darwin", "amd64"}:  "<family>mac</family><arch>x86_64</arch>",
	{"darwin", "arm64"}:  "<family>mac</family><arch>aarch64</arch>",
	{"windows", "amd64"}: "<family>windows</family><arch>amd64</arch>",
	{"windows", "arm64"}: "<family>windows</family><arch>aarch64</arch>",
}

// classifier returns the classifier of the jar with the executable of a platform.
func (p platform) classifier() string {
	os := p.os
	if name := mavenOS[os]; name != "" {
		os = name
	}
	return os + "-" + mavenArch[p.arch]
}

// addExecutableJar adds the jar with the executable of a platform.
func (d *dist) addExecutableJar(p platform, program []byte) {
	folder := "io/github/kubefake/bin/" + p.classifier() + "/"
	sum := sha256.Sum256(program)
	d.files["fakeapi-"+d.number()+"-"+p.classifier()+".jar"] = zipped(d.time, []entry{
		{"META-INF/MANIFEST.MF", 0o644, []byte("Manifest-Version: 1.0\r\n")},
		{folder + p.executable("fakeapi"), 0o755, program},
		{folder + "sha256", 0o644, []byte(hex.EncodeToString(sum[:]) + "\n")},
	})
}

// addProjects adds the projects of the Maven artifacts: that of clients/java, which
// depends on the jar with the executable of the machine, and that of the executables.
// The jar of clients/java is compiled with them by .github/maven-repository.
func (d *dist) addProjects() error {
	text, err := fs.ReadFile(d.source, "clients/java/pom.xml")
	if err != nil {
		return err
	}
	library := strings.Replace(string(text), "<version>0.0.1</version>", "<version>"+d.number()+"</version>", 1)
	head, _, found := strings.Cut(library, "\n  <properties>\n")
	end := strings.LastIndex(library, "</project>")
	if !found || end < 0 {
		return fmt.Errorf("clients/java/pom.xml has no properties, or no end")
	}
	d.files["kubefake-"+d.number()+".pom"] = []byte(library[:end] + "\n" + d.profiles() + "</project>\n")
	executables := strings.NewReplacer(
		"<artifactId>kubefake</artifactId>", "<artifactId>fakeapi</artifactId>\n  <packaging>pom</packaging>",
		"<name>kubefake</name>", "<name>fakeapi</name>",
	).Replace(head)
	d.files["fakeapi-"+d.number()+".pom"] = []byte(strings.TrimRight(executables, "\n") + "\n</project>\n")
	return nil
}

// profiles returns the profiles of which Maven takes the one of the machine.
func (d *dist) profiles() string {
	b := &strings.Builder{}
	b.WriteString("  <!-- The executable for the machine. -->\n  <profiles>\n")
	for _, p := range platforms {
		fmt.Fprintf(b, `    <profile>
      <id>%[1]s</id>
      <activation><os>%[2]s</os></activation>
      <dependencies>
        <dependency>
          <groupId>io.github.kubefake</groupId>
          <artifactId>fakeapi</artifactId>
          <version>%[3]s</version>
          <classifier>%[1]s</classifier>
          <scope>runtime</scope>
        </dependency>
      </dependencies>
    </profile>
`, p.classifier(), mavenActivations[p], d.number())
	}
	b.WriteString("  </profiles>\n")
	return b.String()
}
