package main

import (
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"oriel/bench/textvector"
	"oriel/server/cloudevents"
	"oriel/server/lexicon"
)

// textIndex is what a loop indexes of an event's text. Each connection makes one.
type textIndex interface {
	column() string
	// blocks says that identifiers are in blocks beside it.
	blocks() bool
	// clone is the index for another connection.
	clone() textIndex
	prepare(conn *pgx.Conn)
	// of is the column's value: of an event that the lexicon, run all the same, has given out.
	of(e *cloudevents.Event, out *lexicon.Output) (any, error)
}

// lexemes are the product's.
type lexemes struct{}

func (lexemes) column() string    { return "lexemes" }
func (lexemes) blocks() bool      { return true }
func (lexemes) clone() textIndex  { return lexemes{} }
func (lexemes) prepare(*pgx.Conn) {}
func (lexemes) of(_ *cloudevents.Event, out *lexicon.Output) (any, error) {
	return slices.Clone(out.Lexemes), nil
}

// vectorColumn puts a tsvector in the place of the lexemes. Its index takes the name of theirs, so that
// the maintenance job merges what is pending in it alike.
const vectorColumn = `ALTER TABLE event DROP COLUMN lexemes, ADD COLUMN tsv tsvector;
	CREATE INDEX event_lexemes ON event USING gin (tsv)`

// vectors are every word and path=value of an event as a tsvector, identifiers like any other. They are
// sent in PostgreSQL's binary format: the server has no text to parse.
type vectors struct{ builder *textvector.Builder }

func newVectors() vectors { return vectors{textvector.New()} }

func (vectors) column() string   { return "tsv" }
func (vectors) blocks() bool     { return false }
func (vectors) clone() textIndex { return newVectors() }

func (vectors) prepare(conn *pgx.Conn) {
	conn.TypeMap().RegisterType(&pgtype.Type{Name: "tsvector", OID: pgtype.TSVectorOID, Codec: pgtype.ByteaCodec{}})
}

func (v vectors) of(e *cloudevents.Event, _ *lexicon.Output) (any, error) {
	return v.builder.Append(nil, e.Data, e.Type, e.Source, e.Subject, e.ID)
}
