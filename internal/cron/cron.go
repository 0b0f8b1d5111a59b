// Package cron parses the schedules of CronJobs and finds the times that they name.
package cron

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Schedule is the times at which a CronJob starts Jobs.
type Schedule struct {
	// every is the period of "@every"; 0 for other schedules.
	every time.Duration
	// fields have a bit for each number that a field has: minute, hour, day of the
	// month, month, day of the week.
	fields [5]uint64
	// anyDay is whether one of the fields of days is "*": then a day must fit both,
	// otherwise one of them.
	anyDay bool
	zone   *time.Location
}

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

// Parse parses a schedule: five fields, or a descriptor such as "@daily" or "@every 1h",
// behind an optional "TZ=" or "CRON_TZ=" with the name of a time zone. Its errors have
// the texts of github.com/robfig/cron.
//
// See https://pkg.go.dev/github.com/robfig/cron/v3#hdr-CRON_Expression_Format.
func Parse(schedule string) (*Schedule, error) {
	s := &Schedule{}
	if strings.HasPrefix(schedule, "TZ=") || strings.HasPrefix(schedule, "CRON_TZ=") {
		zone, rest, ok := strings.Cut(schedule[strings.Index(schedule, "=")+1:], " ")
		if !ok {
			return nil, errors.New("invalid schedule format: runtime error: slice bounds out of range [:-1]")
		}
		var err error
		if s.zone, err = time.LoadLocation(zone); err != nil {
			return nil, fmt.Errorf("provided bad location %s: %v", zone, err)
		}
		schedule = strings.TrimSpace(rest)
	}
	if strings.HasPrefix(schedule, "@") {
		return s, s.parseDescriptor(schedule)
	}
	fields := strings.Fields(schedule)
	if len(fields) != len(cronFields) {
		return nil, fmt.Errorf("expected exactly %d fields, found %d: %s", len(cronFields), len(fields), fields)
	}
	for i, field := range cronFields {
		for _, expr := range strings.FieldsFunc(fields[i], func(r rune) bool { return r == ',' }) {
			bits, any, err := field.parse(expr)
			if err != nil {
				return nil, err
			}
			s.fields[i] |= bits
			if any && (i == dayOfMonth || i == dayOfWeek) {
				s.anyDay = true
			}
		}
	}
	return s, nil
}

// Indexes of fields.
const (
	minute = iota
	hour
	dayOfMonth
	month
	dayOfWeek
)

// descriptors are the schedules that words stand for.
var descriptors = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// parseDescriptor parses a schedule such as "@daily" or "@every 1h".
func (s *Schedule) parseDescriptor(word string) error {
	if fields, ok := descriptors[word]; ok {
		parsed, err := Parse(fields)
		if err == nil {
			s.fields, s.anyDay = parsed.fields, parsed.anyDay
		}
		return err
	}
	period, ok := strings.CutPrefix(word, "@every ")
	if !ok {
		return fmt.Errorf("unrecognized descriptor: %s", word)
	}
	d, err := time.ParseDuration(period)
	if err != nil {
		return fmt.Errorf("failed to parse duration %s: %s", word, err)
	}
	s.every = max(d, time.Second).Truncate(time.Second)
	return nil
}

// maxYears is how far ahead Next looks.
const maxYears = 5

// Next returns the first time after t at which the schedule is due, in the location of
// t; the zero time if there is none within five years.
func (s *Schedule) Next(t time.Time) time.Time {
	if s.every > 0 {
		return t.Add(s.every - time.Duration(t.Nanosecond()))
	}
	location := t.Location()
	if s.zone != nil {
		t = t.In(s.zone)
	}
	last := t.Year() + maxYears
	t = t.Truncate(time.Minute).Add(time.Minute)
	for t.Year() <= last {
		year, m, day := t.Date()
		var next time.Time
		switch {
		case !s.has(month, int(m)):
			next = time.Date(year, m+1, 1, 0, 0, 0, 0, t.Location())
		case !s.hasDay(t):
			next = time.Date(year, m, day+1, 0, 0, 0, 0, t.Location())
		case !s.has(hour, t.Hour()):
			next = t.Add(time.Hour - time.Duration(t.Minute())*time.Minute)
		case !s.has(minute, t.Minute()):
			next = t.Add(time.Minute)
		default:
			return t.In(location)
		}
		if !next.After(t) { // midnight does not exist on the day on which summer time begins
			next = t.Add(time.Hour)
		}
		t = next
	}
	return time.Time{}
}

func (s *Schedule) has(field, n int) bool { return s.fields[field]&(1<<n) != 0 }

func (s *Schedule) hasDay(t time.Time) bool {
	inMonth, inWeek := s.has(dayOfMonth, t.Day()), s.has(dayOfWeek, int(t.Weekday()))
	if s.anyDay {
		return inMonth && inWeek
	}
	return inMonth || inWeek
}

// parse returns the numbers of an expression as bits: of a number, a range or a "*",
// with an optional step. any is whether it is a "*" without a step.
func (f cronField) parse(expr string) (bits uint64, any bool, err error) {
	parts := strings.Split(expr, "/")
	bounds := strings.Split(parts[0], "-")
	lo, hi, err := f.bounds(bounds, expr)
	if err != nil {
		return 0, false, err
	}
	any = bounds[0] == "*" || bounds[0] == "?"
	step := 1
	switch len(parts) {
	case 1:
	case 2:
		if step, err = cronNumber(parts[1]); err != nil {
			return 0, false, err
		}
		any = any && step == 1
		if len(bounds) == 1 {
			hi = f.hi
		}
	default:
		return 0, false, fmt.Errorf("too many slashes: %s", expr)
	}
	switch {
	case lo < f.lo:
		return 0, false, fmt.Errorf("beginning of range (%d) below minimum (%d): %s", lo, f.lo, expr)
	case hi > f.hi:
		return 0, false, fmt.Errorf("end of range (%d) above maximum (%d): %s", hi, f.hi, expr)
	case lo > hi:
		return 0, false, fmt.Errorf("beginning of range (%d) beyond end of range (%d): %s", lo, hi, expr)
	case step == 0:
		return 0, false, fmt.Errorf("step of range should be a positive number: %s", expr)
	}
	for n := lo; n <= hi; n += step {
		bits |= 1 << n
	}
	return bits, any, nil
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
