package main

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"oriel/bench/events"
	"oriel/bench/stored"
	"oriel/server/cloudevents"
)

func TestBothFormsOfAnEventSayTheSame(t *testing.T) {
	t.Parallel()
	g := events.New(rand.New(rand.NewPCG(1, 2)), time.Now(), 5)
	for range 50 {
		want := g.Next()
		record := stored.Record(&want)
		r := cloudevents.Record{Key: record.Key, Value: record.Value}
		for _, h := range record.Headers {
			r.Headers = append(r.Headers, cloudevents.Header{Key: h.Key, Value: h.Value})
		}
		event, _, err := cloudevents.DecodeRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := asRow(&want)
		if err != nil {
			t.Fatal(err)
		}
		var got row
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if got.OccurredAt != event.TimeText || got.Source != event.Source || got.ID != event.ID || got.Type != event.Type ||
			got.Subject != event.Subject || got.DataContentType != event.DataContentType || got.Data != string(event.Data) {
			t.Fatalf("the row %+v is not the event %+v", got, event)
		}
	}
}

func TestTheConverterKnowsEveryFieldOfARow(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(row{})
	if err != nil {
		t.Fatal(err)
	}
	for _, asJSON := range []bool{false, true} {
		var members map[string]any
		if err := json.Unmarshal(raw, &members); err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Fields []struct{ Field, Name string }
		}
		if err := json.Unmarshal([]byte(rowSchema(asJSON)), &schema); err != nil {
			t.Fatal(err)
		}
		for _, f := range schema.Fields {
			if _, ok := members[f.Field]; !ok {
				t.Errorf("no member %q", f.Field)
			}
			delete(members, f.Field)
			if f.Field == "data" && (f.Name != "") != asJSON {
				t.Errorf("data is of type %q", f.Name)
			}
		}
		if len(members) > 0 {
			t.Errorf("the schema lacks %v", members)
		}
	}
}

func TestASkewedBacklogHasNineOfTenRecordsInOnePartition(t *testing.T) {
	t.Parallel()
	p := asSaid{kgo.StickyKeyPartitioner(nil)}.ForTopic("t")
	counts := make([]int, partitions)
	for i := range 1000 {
		counts[p.Partition(&kgo.Record{Key: []byte("a key"), Partition: skew(i)}, partitions)]++
	}
	if counts[0] != 900 {
		t.Errorf("%v", counts)
	}
	for _, n := range counts[1:] {
		if n != 20 {
			t.Errorf("%v", counts)
		}
	}
	free := &kgo.Record{Key: []byte("a key"), Partition: anyPartition}
	if got := p.Partition(free, partitions); got != kgo.StickyKeyPartitioner(nil).ForTopic("t").Partition(free, partitions) {
		t.Errorf("a record without a partition goes to %d, not by its key", got)
	}
}

func TestRowsAreCountedMoreOftenTowardsTheEnd(t *testing.T) {
	t.Parallel()
	began := sample{at: time.Unix(100, 0)}
	for sentence, c := range map[string]struct {
		now  sample
		want time.Duration
	}{
		"at once while nothing moves":       {sample{0, began.at.Add(time.Minute)}, tick},
		"after a second where it is far":    {sample{1000, began.at.Add(time.Second)}, time.Second},
		"half way where the end is near":    {sample{99_500, began.at.Add(99500 * time.Millisecond)}, 250 * time.Millisecond},
		"no more often than is of any use":  {sample{99_999, began.at.Add(100 * time.Second)}, tick},
		"at once where rows were taken out": {sample{-5, began.at.Add(time.Second)}, tick},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if got := until(began, c.now, 100_000); got != c.want {
				t.Errorf("looks again after %v, want %v", got, c.want)
			}
		})
	}
}

func TestJavaIsToldHowToReachAServer(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"postgres://u:p@127.0.0.1:5433/db":             "jdbc:postgresql://127.0.0.1:5433/db?reWriteBatchedInserts=true&stringtype=unspecified&sslmode=disable",
		"postgres://u@/db?host=/run/a%20b&port=5434":   "jdbc:postgresql://localhost/db?reWriteBatchedInserts=true&stringtype=unspecified&sslmode=disable&socketFactory=org.newsclub.net.unix.AFUNIXSocketFactory$FactoryArg&socketFactoryArg=/run/a b/.s.PGSQL.5434",
		"postgres:///postgres?host=/tmp/x&user=nobody": "jdbc:postgresql://localhost/postgres?reWriteBatchedInserts=true&stringtype=unspecified&sslmode=disable&socketFactory=org.newsclub.net.unix.AFUNIXSocketFactory$FactoryArg&socketFactoryArg=/tmp/x/.s.PGSQL.5432",
	} {
		config, err := pgx.ParseConfig(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := jdbcURL(config); got != want {
			t.Errorf("%s: %s", url, got)
		}
	}
}

func TestWhatIsFetchedIsFetchedOnceAndWhole(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("ORIEL_CACHE_DIR", cache)
	if _, err := cached(t.Context(), "peer", false, nil); !errors.Is(err, errAbsent) {
		t.Fatalf("without leave to fetch: %v", err)
	}
	broken := errors.New("broken")
	if _, err := cached(t.Context(), "peer", true, func(_ context.Context, dir string) error {
		return errors.Join(os.WriteFile(filepath.Join(dir, "part"), nil, 0o600), broken)
	}); !errors.Is(err, broken) {
		t.Fatalf("a fetch that fails: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(cache, "*", "part")); err != nil || len(left) > 0 {
		t.Fatalf("it left %v, %v", left, err)
	}
	var times atomic.Int32
	var g errgroup.Group
	for range 4 {
		g.Go(func() error {
			dir, err := cached(t.Context(), "peer", true, func(_ context.Context, dir string) error {
				times.Add(1)
				return os.WriteFile(filepath.Join(dir, "whole"), nil, 0o600)
			})
			if err != nil {
				return err
			}
			_, err = os.Stat(filepath.Join(dir, "whole"))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := times.Load(); n != 1 {
		t.Errorf("fetched %d times", n)
	}
}
