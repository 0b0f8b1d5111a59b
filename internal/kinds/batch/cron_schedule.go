package batch

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A cronField is one of the five fields of a schedule: the least and the greatest
// number, and names for numbers.
type cronField struct {
	lo, hi int
	names  []string // of lo and the numbers after it
}

var cronFields = []cronField{
	{0, 59, nil}, // minute
	{0, 23, nil}, // hour
	{1, 31, nil}, // day of the month
	{1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{0, 6, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// checkSchedule checks the schedule of a CronJob. Its errors have the texts of
// github.com/robfig/cron.
//
// See https://pkg.go.dev/github.com/robfig/cron/v3#hdr-CRON_Expression_Format.
func checkSchedule(schedule string) error {
	if strings.HasPrefix(schedule, "TZ=") || strings.HasPrefix(schedule, "CRON_TZ=") {
		zone, rest, ok := strings.Cut(schedule[strings.Index(schedule, "=")+1:], " ")
		if !ok {
			return fmt.Errorf("invalid schedule format: runtime error: slice bounds out of range [:-1]")
		}
		if _, err := time.LoadLocation(zone); err != nil {
			return fmt.Errorf("provided bad location %s: %v", zone, err)
		}
		schedule = strings.TrimSpace(rest)
	}
	if strings.HasPrefix(schedule, "@") {
		return checkDescriptor(schedule)
	}
	fields := strings.Fields(schedule)
	if len(fields) != len(cronFields) {
		return fmt.Errorf("expected exactly %d fields, found %d: %s", len(cronFields), len(fields), fields)
	}
	for i, field := range cronFields {
		for _, expr := range strings.FieldsFunc(fields[i], func(r rune) bool { return r == ',' }) {
			if err := field.check(expr); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkDescriptor checks a schedule such as "@daily" or "@every 1h".
func checkDescriptor(word string) error {
	switch word {
	case "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly":
		return nil
	}
	period, ok := strings.CutPrefix(word, "@every ")
	if !ok {
		return fmt.Errorf("unrecognized descriptor: %s", word)
	}
	if _, err := time.ParseDuration(period); err != nil {
		return fmt.Errorf("failed to parse duration %s: %s", word, err)
	}
	return nil
}

// check checks an expression: a number, a range or a "*", and an optional step.
func (f cronField) check(expr string) error {
	parts := strings.Split(expr, "/")
	bounds := strings.Split(parts[0], "-")
	lo, hi, err := f.bounds(bounds, expr)
	if err != nil {
		return err
	}
	step := 1
	switch len(parts) {
	case 1:
	case 2:
		if step, err = cronNumber(parts[1]); err != nil {
			return err
		}
		if len(bounds) == 1 {
			hi = f.hi
		}
	default:
		return fmt.Errorf("too many slashes: %s", expr)
	}
	switch {
	case lo < f.lo:
		return fmt.Errorf("beginning of range (%d) below minimum (%d): %s", lo, f.lo, expr)
	case hi > f.hi:
		return fmt.Errorf("end of range (%d) above maximum (%d): %s", hi, f.hi, expr)
	case lo > hi:
		return fmt.Errorf("beginning of range (%d) beyond end of range (%d): %s", lo, hi, expr)
	case step == 0:
		return fmt.Errorf("step of range should be a positive number: %s", expr)
	}
	return nil
}

// bounds parses a range. For a single number, lo and hi are equal.
func (f cronField) bounds(ends []string, expr string) (lo, hi int, err error) {
	if ends[0] == "*" || ends[0] == "?" {
		return f.lo, f.hi, nil
	}
	if lo, err = f.number(ends[0]); err != nil {
		return 0, 0, err
	}
	switch len(ends) {
	case 1:
		return lo, lo, nil
	case 2:
		hi, err = f.number(ends[1])
		return lo, hi, err
	}
	return 0, 0, fmt.Errorf("too many hyphens: %s", expr)
}

// number parses a number or a name.
func (f cronField) number(s string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(s, name) {
			return f.lo + i, nil
		}
	}
	return cronNumber(s)
}

func cronNumber(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("failed to parse int from %s: %s", s, err)
	}
	if n < 0 {
		return 0, fmt.Errorf("negative number (%d) not allowed: %s", n, s)
	}
	return n, nil
}

// checkTimeZone returns the error texts for the name of a time zone.
//
// Differs from kube-apiserver: time zones of CronJobs: kube-apiserver has a
// time zone database of its own. Here the names in the database of the machine
// are valid. Request: POST of a CronJob with spec.timeZone.
func checkTimeZone(name string) []string {
	if name == "" {
		return []string{"timeZone must be nil or non-empty string"}
	}
	for _, part := range strings.Split(name, "/") {
		if !isTimeZonePart(part) {
			return []string{"unknown time zone " + name}
		}
	}
	var messages []string
	if strings.EqualFold(name, "Local") {
		messages = append(messages, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	}
	if _, err := time.LoadLocation(name); err != nil {
		messages = append(messages, err.Error())
	}
	return messages
}

// timeZonePartMaxLength is the maximum length of each part of the name of a time
// zone, in bytes. The parts are separated by slashes.
const timeZonePartMaxLength = 14

func isTimeZonePart(s string) bool {
	if s == "" || s == "." || s == ".." || len(s) > timeZonePartMaxLength || s[0] == '-' {
		return false
	}
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_+") == ""
}
