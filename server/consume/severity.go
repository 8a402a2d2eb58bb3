package consume

import "strings"

// Severity ranks. 0 is none: unknown or absent, which is searchable as such.
const (
	rankTrace = 1 + iota
	rankDebug
	rankInfo
	rankNotice
	rankWarning
	rankError
	rankCritical
	rankEmergency
)

// severityOfText is the one table from a severity's text to its rank, without regard to case; 0 is none
// of them. Beside the eight names it knows the spellings of syslog and the short names of
// OpenTelemetry, whose digits follow severityOfNumber.
func severityOfText(s string) int16 {
	if s == "" || len(s) > 16 {
		return 0
	}
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "trace", "trace2", "trace3", "trace4":
		return rankTrace
	case "debug", "debug2", "debug3", "debug4":
		return rankDebug
	case "info", "information", "informational":
		return rankInfo
	case "notice", "info2", "info3", "info4":
		return rankNotice
	case "warning", "warn", "warn2", "warn3", "warn4":
		return rankWarning
	case "error", "err":
		return rankError
	case "critical", "crit", "alert", "error2", "error3", "error4":
		return rankCritical
	case "emergency", "emerg", "fatal", "fatal2", "fatal3", "fatal4":
		return rankEmergency
	default:
		return 0
	}
}

// severityOfNumber is the rank of an OpenTelemetry SeverityNumber, 1 to 24, or 0.
func severityOfNumber(s string) int16 {
	n := 0
	if s == "" || len(s) > 2 {
		return 0
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0
		}
		n = n*10 + int(s[i]-'0')
	}
	switch {
	case n < 1 || n > 24:
		return 0
	case n <= 4:
		return rankTrace
	case n <= 8:
		return rankDebug
	case n == 9:
		return rankInfo
	case n <= 12:
		return rankNotice
	case n <= 16:
		return rankWarning
	case n == 17:
		return rankError
	case n <= 20:
		return rankCritical
	default:
		return rankEmergency
	}
}
