package fault

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/server/apptest"
	"oriel/server/dbtest"
	"oriel/server/kafka"
)

// witness is what tests add to a database. Every write to a checkpoint is noted with the process that wrote
// it, and one type of event is refused as a constraint would refuse it.
const witness = `
CREATE TABLE fault_change (
	seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, partition integer NOT NULL,
	old_next bigint NOT NULL, new_next bigint NOT NULL, old_commits bigint NOT NULL, new_commits bigint NOT NULL,
	old_epoch bigint NOT NULL, new_epoch bigint NOT NULL, writer text NOT NULL);
CREATE FUNCTION fault_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	-- A checkpoint begins at its log's start: that is no move.
	IF TG_OP = 'INSERT' THEN OLD := NEW; END IF;
	INSERT INTO fault_change (partition, old_next, new_next, old_commits, new_commits, old_epoch, new_epoch, writer)
	VALUES (NEW.partition, OLD.next_offset, NEW.next_offset, OLD.commits, NEW.commits, OLD.owner_epoch, NEW.owner_epoch,
		coalesce(current_setting('fault.writer', true), ''));
	RETURN NEW;
END $$;
CREATE TRIGGER fault_note AFTER INSERT OR UPDATE ON checkpoint FOR EACH ROW EXECUTE FUNCTION fault_note();
CREATE FUNCTION fault_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NEW.type = '` + poisonType + `' THEN
		RAISE EXCEPTION 'refused by the test' USING ERRCODE = '23514', CONSTRAINT = 'fault_refuse';
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER fault_refuse BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION fault_refuse();`

// rig is an installation whose every promise is watched: its database has the witness, what producers know is
// in a journal, and every offset that is committed to the group is compared with what is durable.
type rig struct {
	t        *testing.T
	broker   dbtest.Broker
	cluster  *kfake.Cluster // nil on Apache Kafka
	direct   string         // the database, for the test itself
	pool     *pgxpool.Pool
	token    string
	journal  *journal
	group    string
	children []*apptest.Child

	writers sync.WaitGroup // of foreign records

	mu        sync.Mutex
	foreign   []place
	commits   []groupCommit
	unwatched int // commits that came while the database did not answer
}

// newCluster is a kfake cluster in memory with the topics of an installation.
func newCluster(t *testing.T, partitions int, opts ...kfake.Opt) (dbtest.Broker, *kfake.Cluster) {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{
		kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	b := dbtest.Broker{Kind: "kfake", Brokers: cluster.ListenAddrs(), Topic: "events"}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cfg := kafka.Config{Brokers: b.Brokers, Topic: b.Topic, Partitions: partitions}
	if err := kafka.EnsureTopics(ctx, cfg, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return b, cluster
}

// newRig makes an installation at a broker, on a database of the shared server.
func newRig(t *testing.T, b dbtest.Broker, cluster *kfake.Cluster) *rig {
	t.Helper()
	return newRigAt(t, b, cluster, dbtest.NewURL(t))
}

func newRigAt(t *testing.T, b dbtest.Broker, cluster *kfake.Cluster, database string) *rig {
	t.Helper()
	r := &rig{
		t: t, broker: b, cluster: cluster, direct: database, pool: dbtest.Open(t, database),
		journal: newJournal(t), group: "group-" + b.Topic,
	}
	if _, err := r.pool.Exec(t.Context(), witness, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	r.token = apptest.Run(t, r.env(database), "token", "create", "--scope", "events:write", "--name", "producer")
	r.watchOffsets()
	return r
}

// sessionTimeout is after how long the group puts a silent member out.
const sessionTimeout = 6 * time.Second

// env is a child's environment with a database, which may be behind a proxy.
func (r *rig) env(database string, extra ...string) []string {
	return append([]string{
		"ORIEL_DATABASE_URL=" + database,
		"ORIEL_KAFKA_BROKERS=" + strings.Join(r.broker.Brokers, ","),
		"ORIEL_KAFKA_TOPIC=" + r.broker.Topic,
		"ORIEL_KAFKA_GROUP=" + r.group,
		"ORIEL_KAFKA_SESSION_TIMEOUT=" + sessionTimeout.String(),
	}, extra...)
}

// as marks the sessions of a database's URL with the process that opens them, for the witness.
func as(t *testing.T, database, writer string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("options", "-cfault.writer="+writer)
	u.RawQuery = q.Encode()
	return u.String()
}

// start runs a replica with its failpoints and does not wait for it.
func (r *rig) start(addr, database string, files []*os.File, extra ...string) *apptest.Child {
	r.t.Helper()
	env := r.env(database, append([]string{"ORIEL_ADDR=" + addr, "ORIEL_PUBLIC_URL=http://" + addr}, extra...)...)
	c := apptest.StartFailing(r.t, env, files, "serve")
	r.children = append(r.children, c)
	return c
}

// watchOffsets compares every committed offset with the checkpoint of that moment: kfake asks us before it
// takes one. A broker of its own is asked again and again, which sees less.
func (r *rig) watchOffsets() {
	if r.cluster == nil {
		r.pollOffsets()
		return
	}
	r.cluster.ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
		r.cluster.KeepControl()
		commit, ok := req.(*kmsg.OffsetCommitRequest)
		if !ok || commit.Group != r.group {
			return nil, nil, false
		}
		durable, err := r.durable()
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil {
			r.unwatched++
			return nil, nil, false
		}
		for _, topic := range commit.Topics {
			for _, p := range topic.Partitions {
				r.commits = append(r.commits, groupCommit{place{p.Partition, p.Offset}, durable[p.Partition]})
			}
		}
		return nil, nil, false
	})
}

func (r *rig) pollOffsets() {
	client, err := kgo.NewClient(kgo.SeedBrokers(r.broker.Brokers...))
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer client.Close()
		adm := kadm.NewClient(client)
		for ; ctx.Err() == nil; pause(ctx, 50*time.Millisecond) {
			offsets, err := adm.FetchOffsets(ctx, r.group)
			if err != nil {
				continue
			}
			durable, err := r.durable() // after the offsets: it can only be further by now
			if err != nil {
				continue
			}
			r.mu.Lock()
			offsets.Each(func(o kadm.OffsetResponse) {
				if o.Err == nil && o.At >= 0 {
					r.commits = append(r.commits, groupCommit{place{o.Partition, o.At}, durable[o.Partition]})
				}
			})
			r.mu.Unlock()
		}
	}()
	r.t.Cleanup(func() { cancel(); <-done })
}

// durable are the checkpoints as they are now.
func (r *rig) durable() (map[int32]int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	rows, err := r.pool.Query(ctx, `SELECT partition, next_offset FROM checkpoint`)
	if err != nil {
		return nil, err
	}
	next := map[int32]int64{}
	var part int32
	var at int64
	_, err = pgx.ForEachRow(rows, []any{&part, &at}, func() error { next[part] = at; return nil })
	return next, err
}

// evict removes members from the group as the coordinator would once their session has timed out, so that
// nobody has to wait for that.
func (r *rig) evict(members []string) {
	r.t.Helper()
	if err := r.sendAway(members); err != nil {
		r.t.Fatal(err)
	}
}

// sendAway is evict for other goroutines than the test's.
func (r *rig) sendAway(members []string) error {
	if len(members) == 0 {
		return nil
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(r.broker.Brokers...))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = r.group
	for _, id := range members {
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID = id
		req.Members = append(req.Members, m)
	}
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.ErrorCode)
}

// members are the ids of those in the group now.
func (r *rig) members() []string {
	r.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(r.broker.Brokers...))
	if err != nil {
		r.t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	groups, err := kadm.NewClient(client).DescribeGroups(ctx, r.group)
	if err != nil {
		r.t.Fatal(err)
	}
	var ids []string
	for _, m := range groups[r.group].Members {
		ids = append(ids, m.MemberID)
	}
	return ids
}
