package cloudevents

import (
	"errors"
	"time"
)

const (
	exampleTime  = "2026-11-30T12:00:00Z"
	acceptedTime = "RFC 3339, years 0000 to 9999, at most 64 characters, for example " + exampleTime
	maxTime      = 64
)

// ParseTime reads an RFC 3339 timestamp as the attribute time has it, and floors it to microseconds:
// digits beyond the sixth are cut, never rounded, so that an event lies inside [a, b) by its true time.
//
// Accepted beyond what time.Parse takes: lower-case t and z, any number of fraction digits, and the
// leap second 23:59:60 UTC, all of which is the last microsecond of its day, so that it sorts within
// the day it belongs to. Refused, though time.Parse takes them: a comma before the fraction, and hours
// or minutes of the offset out of range. Years 0000 to 9999, as written and in UTC.
func ParseTime(s string) (time.Time, error) {
	var t time.Time
	if len(s) < len("2006-01-02T15:04:05Z") {
		return t, errors.New("it is too short, date, time and offset are all needed")
	}
	if s[4] != '-' || s[7] != '-' {
		return t, errors.New("the date is not written as YYYY-MM-DD")
	}
	if s[10] != 'T' && s[10] != 't' {
		return t, errors.New("there is no T between date and time")
	}
	if s[13] != ':' || s[16] != ':' {
		return t, errors.New("the time of day is not written as HH:MM:SS")
	}
	century, ok1 := two(s, 0)
	year, ok2 := two(s, 2)
	month, ok3 := two(s, 5)
	day, ok4 := two(s, 8)
	hour, ok5 := two(s, 11)
	minute, ok6 := two(s, 14)
	second, ok7 := two(s, 17)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || !ok7 {
		return t, errors.New("a field of date or time is not all digits")
	}
	year += century * 100
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return t, errors.New("there is no such day")
	}
	if hour > 23 || minute > 59 || second > 60 {
		return t, errors.New("there is no such time of day")
	}
	micros, rest, err := fraction(s[19:])
	if err != nil {
		return t, err
	}
	offset, err := zone(rest)
	if err != nil {
		return t, err
	}
	leap := second == 60
	if leap {
		second, micros = 59, 999_999
	}
	t = time.Date(year, time.Month(month), day, hour, minute-offset, second, micros*1000, time.UTC)
	if leap && (t.Hour() != 23 || t.Minute() != 59) {
		return time.Time{}, errors.New("a leap second is 23:59:60 UTC")
	}
	if t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}, errors.New("its year in UTC is not within 0000 and 9999")
	}
	return t, nil
}

// two reads two digits.
func two(s string, at int) (int, bool) {
	a, b := s[at]-'0', s[at+1]-'0'
	return int(a)*10 + int(b), a <= 9 && b <= 9
}

// fraction reads the fraction of a second, if there is one, and cuts it to microseconds.
func fraction(s string) (micros int, rest string, err error) {
	if s == "" || s[0] != '.' {
		return 0, s, nil
	}
	scale, n := 100_000, 1
	for ; n < len(s) && s[n] >= '0' && s[n] <= '9'; n++ {
		micros += int(s[n]-'0') * scale
		scale /= 10
	}
	if n == 1 {
		return 0, s, errors.New("no digit follows the decimal point")
	}
	return micros, s[n:], nil
}

// zone reads the offset in minutes east of UTC; -00:00 is UTC (RFC 3339, section 4.3).
func zone(s string) (int, error) {
	if s == "Z" || s == "z" {
		return 0, nil
	}
	if len(s) != len("+00:00") || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return 0, errors.New("it does not end in Z or an offset like +02:00")
	}
	h, ok1 := two(s, 1)
	m, ok2 := two(s, 4)
	if !ok1 || !ok2 || h > 23 || m > 59 {
		return 0, errors.New("its offset is not within -23:59 and +23:59")
	}
	if s[0] == '-' {
		return -h*60 - m, nil
	}
	return h*60 + m, nil
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
