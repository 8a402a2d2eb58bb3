// Package fault holds the tests that run the built program as a child process, break it, and check
// what its promises say afterwards. It has no code of the product; package server/fault is about
// errors.
//
// A rig is an installation whose every promise is watched. Its producers keep a journal, a trigger notes who
// writes each checkpoint, and every offset that is committed is compared with what is durable at that moment.
// Afterwards all of it is one history (history_test.go), whose checks are numbered:
//
//	I1  what was acknowledged is stored or a dead letter
//	I2  an identity is stored once
//	I3  nothing is there that was never sent, or was refused
//	I4  the events of a key are stored in their order
//	I5  no offset is committed ahead of what is durable
//	I6  the ranges of the ledger are adjacent, and each moved the checkpoint once
//	I7  every record has exactly one outcome, and ledger and rollups count the same
//	I8  a dead letter is published if and only if it committed
//	I9  only the newest owner of a partition writes
//	I10 after healing everything is consumed, published and known to Kafka
//
// README.md lists what a consumer must survive, and the tests that show it.
//
// The crash matrix (make fault) kills a replica at every failpoint found in the source. The nemesis (make
// nemesis) does what follows from a seed to seven replicas, PostgreSQL, the network and the broker, and has
// some lives of the replicas end at failpoints.
package fault
