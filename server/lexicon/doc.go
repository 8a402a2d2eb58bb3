// Package lexicon turns an event into its vocabulary and its identifiers: one pure, versioned
// function, used to index an event, to compile a query's words and to verify a match. It knows no
// database and no event store.
//
// # Words
//
// Every attribute value, the id, every payload string, number and boolean is a value; names of
// members and attributes are not. A value is folded (NFKC, full case folding, combining marks removed
// after Latin, Greek and Cyrillic bases) and cut into leaf words: runs of letters and digits, and
// single characters of the scripts written without spaces (Han, Kana, Hangul, Thai, Lao, Khmer,
// Myanmar). What stands between leaves does not matter: foo-bar, foo.bar and "foo bar" are the same two
// leaves. A JSON number is one leaf, the canonical spelling of its exact decimal value.
//
// A query word is folded and cut by the same code. It matches an event if its leaves occur one after
// another within one value. A word that reads as a JSON number also matches the numbers of that value.
//
// # Tokens
//
// What indexes hold is derived from leaves and closed under taking a part of a value, so that a query
// word's tokens are among those of every event that it matches:
//
//   - the leaf itself;
//   - two neighbouring characters of scripts without spaces, a bigram;
//   - two neighbouring leaves that both hold a digit, a pair: the parts of a UUID, an address, a
//     timestamp, a version are common one by one, their neighbourhood is not. So an identifier is
//     found whole and in its parts, without an entry for every way of cutting it;
//   - data.path=value and name=value for extensions, with the whole folded value.
//
// A token is vocabulary or an identifier by its own text alone. Bigrams and single characters are
// vocabulary and no terms: nobody completes them. Pairs are identifiers.
//
// # Promises
//
// If [Match] says that an event matches a word, then the event's [Output] holds all Conditions of the
// word, and one of Any where there are such, or is Over. If a word is Exact and an event's Output holds
// its condition and is not Over, then Match says so, but for collisions of 64-bit hashes.
package lexicon
