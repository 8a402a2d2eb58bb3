package embedded

import (
	"log/slog"
	"strings"
)

// logLine splits one line of the server's log into a level of ours and its text. Routine messages are
// debug; what a connection did wrong is a warning, as whoever did it has the error too; a panic takes
// every session down and is an error. While stopping, the complaints of cut sessions are routine.
func logLine(line string, stopping bool) (slog.Level, string) {
	word, text, ok := strings.Cut(line, ":  ")
	if !ok {
		return slog.LevelDebug, strings.TrimLeft(line, "\t")
	}
	level := slog.LevelDebug
	switch word {
	case "WARNING", "ERROR":
		level = slog.LevelWarn
	case "FATAL":
		level = slog.LevelWarn
		// Clients that come too early are told to wait, and they do.
		if strings.HasPrefix(text, "the database system is ") {
			level = slog.LevelDebug
		}
	case "PANIC":
		return slog.LevelError, text
	}
	if stopping {
		level = slog.LevelDebug
	}
	return level, text
}
