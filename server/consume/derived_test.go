package consume

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/dbtest"
	"oriel/server/facets"
)

// fieldsOf is a configuration of facets of which some are counted.
func fieldsOf(t *testing.T, fields string, counted ...string) facets.Config {
	t.Helper()
	c, err := facets.Parse(fields, counted, facets.DefaultSeverity)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestARowSaysByWhichConfigurationItIsDerived(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 2))
	sent := 0
	send := func(c facets.Config) *member {
		var recs []*kgo.Record
		for range 20 {
			e := event(fmt.Sprintf("e-%d", sent))
			e.Data = fmt.Appendf(nil, `{"roomId":"hall","area":"z%d","order":"o-%d","log":{"level":"error"}}`, sent%3, sent)
			recs = append(recs, record(e, int32(sent%2)))
			sent++
		}
		m := r.start(func(cfg *Config) { cfg.Facets = c })
		r.produce(recs...)
		r.settle()
		return m
	}
	other := fieldsOf(t, "area=data.area,order=data.order,room=", "area")
	other.Severity = "log.level"
	for _, c := range []facets.Config{{}, other, facets.Default(), other} {
		r.halt(send(c))
	}
	for facets, want := range map[string]int{
		"facets_version = 1 AND facets @> '{room=hall}' AND cardinality(facets) = 2 AND severity IS NULL":                                40,
		"facets_version = 2 AND facets[1] ~ '^area=z.$' AND facets[3] ~ '^order=o-[0-9]+$' AND cardinality(facets) = 3 AND severity = 6": 40,
	} {
		if n := r.count("SELECT count(*) FROM event WHERE " + facets); n != want {
			t.Errorf("%d events of %s, want %d", n, facets, want)
		}
	}
	if n := r.count("SELECT coalesce(sum(n), 0) FROM rollup_quarter WHERE dimension IN ('order', 'device')"); n != 0 {
		t.Errorf("%d events are counted by what has many values", n)
	}
	if n := r.count("SELECT coalesce(sum(n), 0) FROM rollup_quarter WHERE dimension = 'area' AND value <> ''"); n != 40 {
		t.Errorf("%d events are counted by area", n)
	}
	if n := r.count("SELECT count(*) FROM facet_version"); n != 2 {
		t.Errorf("%d versions", n)
	}
}

func TestReplicasOfDifferentConfigurationsSaySo(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 2))
	one := r.build(r.pool, nil)
	same := r.build(r.pool, nil)
	other := r.build(r.pool, func(c *Config) { c.Facets = fieldsOf(t, "area=data.area") })
	use := func(m *member) {
		t.Helper()
		if err := m.useFacets(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	watch := func(m *member) []int16 {
		t.Helper()
		m.derived.used = m.derived.used.Add(-useEvery)
		if err := m.watchFacets(t.Context()); err != nil {
			t.Fatal(err)
		}
		return m.derived.told
	}
	r.exec("UPDATE facet_version SET used_at = now() - interval '1 hour'")
	use(one)
	use(same)
	if got := watch(one); len(got) != 0 {
		t.Errorf("one that is the same was reported: %v", got)
	}
	use(other)
	if other.derived.version != 2 || one.derived.version != 1 || same.derived.version != 1 {
		t.Errorf("versions %d, %d and %d", one.derived.version, same.derived.version, other.derived.version)
	}
	for range 2 {
		if got := watch(one); fmt.Sprint(got) != "[2]" {
			t.Errorf("the first reports %v", got)
		}
		if got := watch(other); fmt.Sprint(got) != "[1]" {
			t.Errorf("the other reports %v", got)
		}
	}
	other.derived.used = time.Now()
	r.exec("UPDATE facet_version SET used_at = now() - interval '1 hour'")
	if err := other.watchFacets(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := r.count("SELECT count(*) FROM facet_version WHERE used_at > now() - interval '1 minute'"); n != 0 {
		t.Errorf("a consumer said again what it had just said")
	}
}

func TestTheBuiltInConfigurationIsTheFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	var version int
	r.one(&version, "SELECT version FROM facet_version WHERE config = $1 AND fields = $2 AND counted = $3",
		facets.Default().String(), facets.Default().Names(), facets.Default().Counted())
	if version != builtInFacets {
		t.Errorf("version %d", version)
	}
}
