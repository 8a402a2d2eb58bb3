package lexicon

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkText(b *testing.B) {
	for name, sentence := range map[string]string{
		"ASCII":    "The gateway lost its connection after a restart. ",
		"Cyrillic": "Шлюз потерял соединение после перезагрузки. ",
		"Latin":    "Le portail a été coupé après une panne générale. ",
		"Han":      "网关在重新启动后失去了连接。",
		"Hangul":   "게이트웨이가 다시 시작한 후 연결이 끊어졌습니다. ",
		"Thai":     "เกตเวย์ขาดการเชื่อมต่อหลังจากเริ่มระบบใหม่ ",
	} {
		b.Run(name, func(b *testing.B) {
			in := &Input{Text: true, Data: []byte(strings.Repeat(sentence, 10000/len(sentence)))}
			a := New(testKey, nil)
			all := everything{}
			b.SetBytes(int64(len(in.Data)))
			b.ReportAllocs()
			for b.Loop() {
				a.Analyze(in, all)
			}
		})
	}
}

// BenchmarkLarge is one event of 1 MiB with 40,000 distinct words.
func BenchmarkLarge(b *testing.B) {
	in := jsonInput(large())
	a := New(testKey, nil)
	b.SetBytes(int64(len(in.Data)))
	for b.Loop() {
		a.Analyze(in, everything{})
	}
}

func BenchmarkScan(b *testing.B) {
	data := []byte(large())
	b.SetBytes(int64(len(data)))
	var p scanner
	for b.Loop() {
		p.scan(data, &quiet{})
	}
}

// large is 40,000 distinct words in about 1 MiB of JSON.
func large() string {
	var s strings.Builder
	s.WriteString(`{"text":"`)
	for i := range 40000 {
		fmt.Fprintf(&s, "%s%s ", letters(i), strings.Repeat("x", 18))
	}
	s.WriteString(`"}`)
	return s.String()
}

// letters spells a number in letters.
func letters(i int) string {
	var s []byte
	for ; len(s) < 6; i /= 20 {
		s = append(s, byte('a'+i%20))
	}
	return string(s)
}

// everything has been seen.
type everything struct{}

func (everything) Term(int64) bool                 { return true }
func (everything) Path(string, string, int16) bool { return true }

type quiet struct{}

func (*quiet) open(bool)     {}
func (*quiet) close()        {}
func (*quiet) key([]byte)    {}
func (*quiet) text([]byte)   {}
func (*quiet) number([]byte) {}
func (*quiet) truth(bool)    {}
func (*quiet) null()         {}
