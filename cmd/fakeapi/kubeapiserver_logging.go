package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/validation"
)

// A checkedText is the text of a flag that a function checks.
type checkedText struct {
	text  string
	kind  string
	check func(string) error
}

func (v *checkedText) Set(value string) error {
	if err := v.check(value); err != nil {
		return err
	}
	v.text = value
	return nil
}
func (v *checkedText) String() string { return v.text }
func (v *checkedText) Type() string   { return v.kind }

// checkVerbosity checks a value of --v.
func checkVerbosity(value string) error {
	_, err := strconv.ParseUint(value, 10, 31)
	return err
}

// checkVModule checks a value of --vmodule.
func checkVModule(value string) error {
	for _, pair := range strings.Split(value, ",") {
		pattern, level, _ := strings.Cut(pair, "=")
		switch {
		case pair == "":
			continue
		case pattern == "" || level == "" || strings.Contains(level, "="):
			return fmt.Errorf("%q does not have the pattern=N format", pair)
		}
		if err := checkVerbosity(level); err != nil {
			return fmt.Errorf("parsing verbosity in %q: %w", pair, err)
		}
	}
	return nil
}

func checkQuantity(value string) error {
	_, err := quantity.Parse(value)
	return err
}

// validateLogging checks the flags of the log, which have no other effect.
func (c *kubeAPIServer) validateLogging() (errs []error) {
	format := c.value("logging-format")
	if every, err := time.ParseDuration(c.value("log-flush-frequency")); err == nil && every <= 0 {
		errs = append(errs, validation.Invalid(validation.NewPath("flushFrequency"), every.String(), "Must be greater than zero"))
	}
	if format != "text" && format != "json" {
		errs = append(errs, validation.Invalid(validation.NewPath("format"), format, "Unsupported log format"))
	}
	if c.value("vmodule") != "" && format != "text" && format != "" {
		errs = append(errs, validation.Forbidden(validation.NewPath("vmodule"), "Only supported for text log format"))
	}
	if c.served.Enabled("LoggingAlphaOptions") {
		return errs
	}
	for _, option := range []struct{ flag, path, field, zero string }{
		{"log-text-split-stream", "text", "splitStream", "false"},
		{"log-text-info-buffer-size", "text", "infoBufferSize", "0"},
		{"log-json-split-stream", "json", "splitStream", "false"},
		{"log-json-info-buffer-size", "json", "infoBufferSize", "0"},
	} {
		if v := c.value(option.flag); v != "" && v != option.zero {
			errs = append(errs, validation.Forbidden(validation.NewPath("options").Child(option.path).Child(option.field), "Feature LoggingAlphaOptions is disabled"))
		}
	}
	return errs
}
