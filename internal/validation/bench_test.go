//go:build go1.24

package validation_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func BenchmarkObjectMeta(b *testing.B) {
	meta, path := with(nil), validation.NewPath("metadata")
	b.ReportAllocs()
	for b.Loop() {
		if len(validation.ObjectMeta(meta, true, validation.SubdomainName, path)) > 0 {
			b.Fatal("not valid")
		}
	}
}

func BenchmarkObjectMetaUpdate(b *testing.B) {
	newMeta, oldMeta, path := with(nil), with(nil), validation.NewPath("metadata")
	b.ReportAllocs()
	for b.Loop() {
		if len(validation.ObjectMetaUpdate(newMeta, object.ViewOf(oldMeta), path)) > 0 {
			b.Fatal("not valid")
		}
	}
}

func BenchmarkQualifiedName(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if len(validation.QualifiedName("app.kubernetes.io/managed-by")) > 0 {
			b.Fatal("not valid")
		}
	}
}

func BenchmarkDNS1123Subdomain(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if len(validation.DNS1123Subdomain("web-7c5ddbdf54-xk2lp")) > 0 {
			b.Fatal("not valid")
		}
	}
}
