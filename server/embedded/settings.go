package embedded

// settings are the server's command-line arguments. They live here and not in postgresql.conf so that a
// data folder of an earlier release runs with those of this one.
func settings(socketDir string, fast bool) []string {
	type setting struct{ name, value string }
	set := []setting{
		// Nothing but a socket in a folder that only the server's user and root can enter.
		{"listen_addresses", ""},
		{"unix_socket_directories", socketDir},
		{"unix_socket_permissions", "0700"},
		{"port", port},

		// The messages come to our own log: no prefix, no parameters, no statements and no details, as
		// any of the three can hold a producer's data.
		{"log_destination", "stderr"},
		{"logging_collector", "off"},
		{"log_line_prefix", ""},
		{"log_error_verbosity", "terse"},
		{"log_min_error_statement", "panic"},

		{"timezone", "UTC"},
		{"log_timezone", "UTC"},

		// Compiling a plan costs more than our short queries take.
		{"jit", "off"},
		// Data folders are on SSDs; the default price keeps the planner from the block and word indexes.
		{"random_page_cost", "1.1"},
		// Modest: the demo shares a laptop, and the page cache does the rest.
		{"shared_buffers", "128MB"},
		{"work_mem", "16MB"},
		// Pending list merges and index builds run in it.
		{"maintenance_work_mem", "128MB"},
		// A search can lock every day partition with all of its indexes.
		{"max_locks_per_transaction", "256"},
		// New words gather here and are merged by the maintenance job, not in the middle of an insert.
		{"gin_pending_list_limit", "64MB"},
		// A client that left does not keep a query running.
		{"client_connection_check_interval", "2s"},
		// Nobody replicates from this server, so the log carries only what recovery needs.
		{"wal_level", "minimal"},
		{"max_wal_senders", "0"},
	}
	if fast {
		set = append(set,
			// A test's data may be lost: nothing waits for the disk.
			setting{"fsync", "off"},
			setting{"synchronous_commit", "off"},
			setting{"full_page_writes", "off"},
			// The folder can be memory.
			setting{"max_wal_size", "256MB"},
			setting{"min_wal_size", "32MB"},
			// Every test has its own pool.
			setting{"max_connections", "300"},
		)
	} else {
		set = append(set,
			// Checkpoints by time, not by volume: after each one every touched page is logged whole.
			setting{"max_wal_size", "4GB"},
			setting{"checkpoint_timeout", "15min"},
			// The log of several batches at once has room: by default one of them writes it out for the others.
			setting{"wal_buffers", "32MB"},
			// Those whole pages are mostly index pages, which compress well.
			setting{"wal_compression", "on"},
			setting{"max_connections", "100"},
		)
	}
	args := make([]string, 0, 2*len(set))
	for _, s := range set {
		args = append(args, "-c", s.name+"="+s.value)
	}
	return args
}
