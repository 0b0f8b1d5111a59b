package crd

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/webhook"
)

// conversion validates spec.conversion.
func (c *specValidator) conversion(path *validation.Path) validation.List {
	conversion := object.Map(c.spec, "conversion")
	if conversion == nil {
		return nil
	}
	strategy := object.String(conversion, "strategy")
	var errs validation.List
	if strategy != "None" && object.Bool(c.spec, "preserveUnknownFields") {
		errs = append(errs, validation.Invalid(path.Child("strategy"), strategy, "must be None if spec.preserveUnknownFields is true"))
	}
	errs = append(errs, enum(strategy, []string{"None", "Webhook"}, path.Child("strategy"))...)
	config, at := object.Map(conversion, "webhookClientConfig"), path.Child("webhookClientConfig")
	reviews := object.List(conversion, "conversionReviewVersions")
	if strategy != "Webhook" {
		const forbidden = "should not be set when strategy is not set to Webhook"
		if config != nil {
			errs = append(errs, validation.Forbidden(at, forbidden))
		}
		if len(reviews) > 0 {
			errs = append(errs, validation.Forbidden(path.Child("conversionReviewVersions"), forbidden))
		}
		return errs
	}
	url, hasURL := config["url"].(string)
	service := object.Map(config, "service")
	switch {
	case config == nil:
		errs = append(errs, validation.Required(at, "required when strategy is set to Webhook"))
	case hasURL == (service != nil):
		errs = append(errs, validation.Required(at, "exactly one of url or service is required"))
	case hasURL:
		errs = append(errs, validation.WebhookURL(url, at.Child("url"))...)
	default:
		errs = append(errs, validation.WebhookService(service, at.Child("service"))...)
	}
	if bundle := object.String(config, "caBundle"); bundle != "" && !isBundle(bundle) && !c.mayHaveInvalidBundle() {
		errs = append(errs, validation.Invalid(at.Child("caBundle"), unversioned.Value{Type: "[]byte", Value: bundle}, webhook.ErrCABundle.Error()))
	}
	return append(errs, c.reviewVersions(reviews, path.Child("conversionReviewVersions"))...)
}

// mayHaveInvalidBundle reports whether caBundle may be invalid: the definition is not
// established, or caBundle was already invalid.
func (c *specValidator) mayHaveInvalidBundle() bool {
	if !hasCondition(c.old, established) {
		return true
	}
	was := c.old.String("spec", "conversion", "webhook", "clientConfig", "caBundle")
	return was != "" && !isBundle(was)
}

// supportedReviewVersions has the supported versions of ConversionReview in order of
// preference.
var supportedReviewVersions = []string{"v1", "v1beta1"}

func (c *specValidator) reviewVersions(versions []any, path *validation.Path) validation.List {
	if len(versions) == 0 {
		return validation.List{validation.Required(path, "")}
	}
	var errs validation.List
	seen, known := map[string]bool{}, false
	for i, v := range versions {
		version, _ := v.(string)
		if seen[version] {
			errs = append(errs, validation.Invalid(path.Index(i), version, "duplicate version"))
			continue
		}
		seen[version] = true
		errs = append(errs, validation.Each(path.Index(i), version, validation.DNS1035Label(version))...)
		known = known || slices.Contains(supportedReviewVersions, version)
	}
	if was := c.old.Strings("spec", "conversion", "webhook", "conversionReviewVersions"); len(was) > 0 && !slices.ContainsFunc(was, func(v string) bool { return slices.Contains(supportedReviewVersions, v) }) {
		return errs // the old definition had no supported version either
	}
	if !known {
		errs = append(errs, validation.Invalid(path, versions, "must include at least one of "+strings.Join(supportedReviewVersions, ", ")))
	}
	return errs
}
