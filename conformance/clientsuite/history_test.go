package clientsuite

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func at(version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: version}}
}

func TestHistory(t *testing.T) {
	for _, row := range []struct {
		name    string
		relists bool
		events  func(h *history)
		wrong   bool
	}{
		{"added, updated, deleted and added", false, func(h *history) {
			h.OnAdd(at("9"), true)
			h.OnUpdate(at("9"), at("10"))
			h.OnDelete(at("11"))
			h.OnAdd(at("12"), false)
		}, false},
		{"added twice", false, func(h *history) {
			h.OnAdd(at("9"), true)
			h.OnAdd(at("10"), false)
		}, true},
		{"updated before added", false, func(h *history) { h.OnUpdate(at("9"), at("10")) }, true},
		{"deleted twice", false, func(h *history) {
			h.OnAdd(at("9"), true)
			h.OnDelete(at("10"))
			h.OnDelete(at("11"))
		}, true},
		{"updated to the same version", false, func(h *history) {
			h.OnAdd(at("9"), true)
			h.OnUpdate(at("9"), at("9"))
		}, true},
		{"updated to the same version by a relist", true, func(h *history) {
			h.OnAdd(at("9"), true)
			h.OnUpdate(at("9"), at("9"))
		}, false},
		{"updated to an older version", true, func(h *history) {
			h.OnAdd(at("10"), true)
			h.OnUpdate(at("10"), at("9"))
		}, true},
		{"updated from an unknown state", false, func(h *history) {
			h.OnAdd(at("9"), true)
			h.OnUpdate(at("10"), at("11"))
		}, true},
		{"deletion missed", true, func(h *history) {
			h.OnAdd(at("9"), true)
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "a", Obj: at("9")})
		}, false},
		{"not an object", false, func(h *history) { h.OnAdd("a", false) }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHistory(row.relists)
			row.events(h)
			_, errs := h.result()
			assert.Equal(t, row.wrong, len(errs) > 0, "%q", errs)
		})
	}
}
