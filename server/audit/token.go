package audit

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"
)

// pageToken says where a list goes on. It is opaque, no secret, and grants nothing; the checksum catches one that
// was cut.
type pageToken struct {
	filter      uint64
	from, until *time.Time
	last        int64 // the id before which the next page begins
}

const (
	tokenKind = 0x31 // version 1
	tokenSize = 1 + 8 + 1 + 8 + 8 + 8 + 4
)

const (
	hasFrom = 1 << iota
	hasUntil
)

var errToken = errors.New("malformed token")

func (t pageToken) String() string {
	b := make([]byte, 1, tokenSize)
	b[0] = tokenKind
	b = binary.BigEndian.AppendUint64(b, t.filter)
	var flags byte
	var bounds [2]int64
	for i, at := range []*time.Time{t.from, t.until} {
		if at != nil {
			flags |= hasFrom << i
			bounds[i] = at.UnixMicro()
		}
	}
	b = append(b, flags)
	b = binary.BigEndian.AppendUint64(b, uint64(bounds[0]))
	b = binary.BigEndian.AppendUint64(b, uint64(bounds[1]))
	b = binary.BigEndian.AppendUint64(b, uint64(t.last))
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

func readToken(s string) (t pageToken, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != tokenSize || b[0] != tokenKind ||
		crc32.ChecksumIEEE(b[:tokenSize-4]) != binary.BigEndian.Uint32(b[tokenSize-4:]) {
		return t, errToken
	}
	t.filter = binary.BigEndian.Uint64(b[1:])
	flags := b[9]
	for i, at := range []**time.Time{&t.from, &t.until} {
		if flags&(hasFrom<<i) != 0 {
			instant := time.UnixMicro(int64(binary.BigEndian.Uint64(b[10+8*i:]))).UTC()
			*at = &instant
		}
	}
	if t.last = int64(binary.BigEndian.Uint64(b[26:])); t.last <= 0 {
		return t, errToken
	}
	return t, nil
}
