package validation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	listvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubefake/kubefake/internal/validation"
)

var (
	bools  = []*bool{nil, new(false), new(true)}
	dryRun = [][]string{nil, {}, {"All"}, {"All", "All"}, {""}, {"all", "All"}, {"<a>"}}
)

func TestWriteAndPatchOptions(t *testing.T) {
	for _, manager := range []string{"", "m", "é", "a\nb\x00\xff", strings.Repeat("m", 128), strings.Repeat("é", 65), "\u200b" + strings.Repeat("m", 128)} {
		for _, dryRun := range dryRun {
			for _, check := range []string{"", "Ignore", "Warn", "Strict", "strict", "<a>"} {
				o := validation.WriteOptions{FieldManager: manager, DryRun: dryRun, FieldValidation: check}
				assert.Equal(t, theirs(metavalidation.ValidateCreateOptions(&metav1.CreateOptions{FieldManager: manager, DryRun: dryRun, FieldValidation: check})), ours(o.Validate()))
				assert.Equal(t, theirs(metavalidation.ValidateUpdateOptions(&metav1.UpdateOptions{FieldManager: manager, DryRun: dryRun, FieldValidation: check})), ours(o.Validate()))
				for _, force := range bools {
					theirOptions := &metav1.PatchOptions{FieldManager: manager, DryRun: dryRun, FieldValidation: check, Force: force}
					p := validation.PatchOptions{WriteOptions: o, Force: force}
					assert.Equal(t, theirs(metavalidation.ValidatePatchOptions(theirOptions, types.MergePatchType)), ours(p.Validate()))
					p.Apply = true
					assert.Equal(t, theirs(metavalidation.ValidatePatchOptions(theirOptions, types.ApplyYAMLPatchType)), ours(p.Validate()))
				}
			}
		}
	}
}

func TestDeleteOptions(t *testing.T) {
	for _, policy := range []*string{nil, new("Foreground"), new("Background"), new("Orphan"), new(""), new("orphan"), new("<a>")} {
		for _, orphan := range bools {
			for _, dryRun := range dryRun {
				want := metavalidation.ValidateDeleteOptions(&metav1.DeleteOptions{
					OrphanDependents: orphan, PropagationPolicy: (*metav1.DeletionPropagation)(policy), DryRun: dryRun,
				})
				got := validation.DeleteOptions{OrphanDependents: orphan, PropagationPolicy: policy, DryRun: dryRun}.Validate()
				assert.Equal(t, theirs(want), ours(got))
			}
		}
	}
}

func TestListOptions(t *testing.T) {
	for _, watch := range []bool{false, true} {
		for _, version := range []string{"", "0", "1"} {
			for _, match := range []string{"", "Exact", "NotOlderThan", "exact", "<a>"} {
				for _, token := range []string{"", "abc"} {
					for _, send := range bools {
						want := listvalidation.ValidateListOptions(&internalversion.ListOptions{
							Watch: watch, ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatch(match), Continue: token, SendInitialEvents: send,
						}, true)
						got := validation.ListOptions{
							Watch: watch, ResourceVersion: version, ResourceVersionMatch: match, Continue: token, SendInitialEvents: send,
						}.Validate()
						assert.Equal(t, theirs(want), ours(got))
					}
				}
			}
		}
	}
}

func TestIncludeObject(t *testing.T) {
	for _, s := range []string{"", "None", "Metadata", "Object", "none", "<a>"} {
		assert.Equal(t, theirs(metavalidation.ValidateTableOptions(&metav1.TableOptions{IncludeObject: metav1.IncludeObjectPolicy(s)})),
			ours(validation.IncludeObject(s)))
	}
}
