// Command oriel is the event observatory: one program that ingests, stores, searches and shows
// CloudEvents. It reads flags and the environment, makes a signal context and sets the exit code;
// everything else is package app's.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"oriel/server/app"
	"oriel/server/config"
	"oriel/server/telemetry"
)

type commands struct {
	Serve       serveCommand       `cmd:"" help:"Run Oriel against PostgreSQL and Kafka, configured by the environment."`
	Demo        demoCommand        `cmd:"" help:"Run everything on this machine: embedded PostgreSQL and broker, sample traffic."`
	Migrate     migrateCommand     `cmd:"" help:"Bring the database schema up to date, under a lock."`
	Token       tokenCommand       `cmd:"" help:"API tokens."`
	Consumer    consumerCommand    `cmd:"" help:"Decisions about a consumer."`
	Reindex     reindexCommand     `cmd:"" help:"Build the index of identifiers of events that have none, beside a product that may be running."`
	Check       checkCommand       `cmd:"" help:"Compare what is derived from events with the events."`
	Outbox      outboxCommand      `cmd:"" help:"Messages that no broker took."`
	Healthcheck healthcheckCommand `cmd:"" help:"Exit 0 when the local server is ready, 1 when it is not."`
	Config      configCommand      `cmd:"" help:"Print the effective configuration, secrets redacted."`
	Version     versionCommand     `cmd:"" help:"Print the version."`
}

// process is what a command may use of the world.
type process struct {
	ctx context.Context
	cfg config.Config
	out io.Writer
	log *slog.Logger
}

type serveCommand struct{}

func (serveCommand) Run(p *process) error {
	return app.Serve(p.ctx, p.cfg, p.log, version())
}

type demoCommand struct{}

func (demoCommand) Run(p *process) error {
	return app.Demo(p.ctx, p.cfg, p.out, p.log, version())
}

type migrateCommand struct {
	Topics    bool   `help:"Create the topics too, where they do not exist."`
	WriteRole string `help:"The database role that serve connects as: give it what it needs, and no more." placeholder:"NAME"`
	ReadRole  string `help:"The database role that searches connect as: give it what it needs, and no more." placeholder:"NAME"`
}

func (c migrateCommand) Run(p *process) error {
	return app.Migrate(p.ctx, p.cfg, app.MigrateOptions{Topics: c.Topics, WriteRole: c.WriteRole, ReadRole: c.ReadRole}, p.out, p.log)
}

type tokenCommand struct {
	Create createTokenCommand `cmd:"" help:"Make a token and print it, once."`
	List   listTokensCommand  `cmd:"" help:"Show every token, without its secret."`
	Revoke revokeTokenCommand `cmd:"" help:"End a token; replicas refuse it within two seconds."`
}

type createTokenCommand struct {
	Scope        []string     `required:"" help:"events:write, events:read, operate, admin:read or admin:write; repeatable."`
	Name         string       `required:"" help:"What the token is for."`
	SourcePrefix []string     `sep:"none" help:"Sources it may write; repeatable, any by default."`
	Expires      *config.Days `help:"How long it is valid, such as 90d or 12h; for ever by default."`
	Reason       string       `help:"Why, for the record." default:"made on the command line"`
}

func (c createTokenCommand) Run(p *process) error {
	return app.CreateToken(p.ctx, p.cfg, p.out, app.NewToken{
		Name: c.Name, Scopes: c.Scope, SourcePrefixes: c.SourcePrefix, Lasting: (*time.Duration)(c.Expires), Reason: c.Reason,
	})
}

type listTokensCommand struct{}

func (listTokensCommand) Run(p *process) error { return app.ListTokens(p.ctx, p.cfg, p.out) }

type revokeTokenCommand struct {
	ID     app.TokenID `arg:"" help:"The token's id, from oriel token list: 3, or tokens/3 as the API says."`
	Reason string      `help:"Why, for the record." default:"revoked on the command line"`
}

func (c revokeTokenCommand) Run(p *process) error {
	return app.RevokeToken(p.ctx, p.cfg, p.out, c.ID, c.Reason)
}

type consumerCommand struct {
	AdoptTopic adoptTopicCommand     `cmd:"" help:"Accept the topic as it is now as a new log, read from offset 0."`
	Move       moveConsumerCommand   `cmd:"" help:"Have a partition go on at another offset; what is passed over counts as skipped."`
	Resume     resumeConsumerCommand `cmd:"" help:"Have partitions run again that stopped because too many records became dead letters."`
}

type adoptTopicCommand struct {
	Consumer string `required:"" help:"The consumer, such as store."`
	Reason   string `required:"" help:"Why, for the record."`
}

func (c adoptTopicCommand) Run(p *process) error {
	return app.AdoptTopic(p.ctx, p.cfg, p.out, c.Consumer, c.Reason)
}

type moveConsumerCommand struct {
	Consumer  string `required:"" help:"The consumer, such as store."`
	Partition int32  `required:"" help:"The partition."`
	To        int64  `required:"" help:"The offset of the next record to read."`
	From      *int64 `help:"Only if the checkpoint is at this offset; needed to skip records of a partition that runs."`
	Reason    string `required:"" help:"Why, for the record."`
}

func (c moveConsumerCommand) Run(p *process) error {
	return app.MoveConsumer(p.ctx, p.cfg, p.out, app.ConsumerMove{
		Consumer: c.Consumer, Partition: c.Partition, To: c.To, From: c.From, Reason: c.Reason,
	})
}

type resumeConsumerCommand struct {
	Consumer string `required:"" help:"The consumer, such as store."`
	Reason   string `required:"" help:"Why, for the record."`
}

func (c resumeConsumerCommand) Run(p *process) error {
	return app.ResumeConsumer(p.ctx, p.cfg, p.out, c.Consumer, c.Reason)
}

// days are a part of what is stored, by UTC day.
type days struct {
	From  time.Time `help:"The first day, such as 2026-03-01 (UTC); the oldest by default." format:"2006-01-02"`
	Until time.Time `help:"The last day; the newest by default." format:"2006-01-02"`
}

func (d days) window() app.Days { return app.Days{From: d.From, Until: d.Until} }

type reindexCommand struct {
	days
	Rebuild bool   `help:"Make the blocks that are there again, too."`
	Rollups bool   `help:"Make the rollups what the events are, and leave the index of identifiers alone."`
	Reason  string `help:"Why, for the record." default:"run on the command line"`
}

func (c reindexCommand) Run(p *process) error {
	if c.Rollups {
		return app.ReindexRollups(p.ctx, p.cfg, p.out, app.Reindex{Days: c.window(), Rebuild: c.Rebuild, Reason: c.Reason}, p.log)
	}
	return app.ReindexBlocks(p.ctx, p.cfg, p.out, app.Reindex{Days: c.window(), Rebuild: c.Rebuild, Reason: c.Reason})
}

type checkCommand struct {
	Rollups checkRollupsCommand `cmd:"" help:"The counts that searches read: that they are those of the events. Exit 1 where not."`
	Blocks  checkBlocksCommand  `cmd:"" help:"The index of identifiers: that every event is in it, and found by its identifiers. Exit 1 where not."`
}

type checkRollupsCommand struct{ days }

func (c checkRollupsCommand) Run(p *process) error {
	return app.CheckRollups(p.ctx, p.cfg, p.out, c.window())
}

type checkBlocksCommand struct {
	days
	Samples int `help:"Events of each block whose identifiers are looked up." default:"10"`
}

func (c checkBlocksCommand) Run(p *process) error {
	return app.CheckBlocks(p.ctx, p.cfg, p.out, c.window(), c.Samples)
}

type outboxCommand struct {
	List    listOutboxCommand    `cmd:"" help:"Show the dead messages, the oldest first."`
	Retry   retryOutboxCommand   `cmd:"" help:"Have dead messages tried again."`
	Discard discardOutboxCommand `cmd:"" help:"Delete dead messages."`
}

type listOutboxCommand struct {
	Topic string `help:"Of this topic alone."`
	Limit int    `help:"At most so many." default:"100"`
}

func (c listOutboxCommand) Run(p *process) error {
	return app.ListOutbox(p.ctx, p.cfg, p.out, c.Topic, c.Limit)
}

// deadMessages are what retry and discard are asked for.
type deadMessages struct {
	ID     []int64 `arg:"" optional:"" help:"Their ids, from oriel outbox list."`
	Topic  string  `help:"All dead ones of a topic, instead of ids."`
	Reason string  `required:"" help:"Why, for the record."`
}

func (m deadMessages) asked() app.DeadMessages {
	return app.DeadMessages{IDs: m.ID, Topic: m.Topic, Reason: m.Reason}
}

type retryOutboxCommand struct{ deadMessages }

func (c retryOutboxCommand) Run(p *process) error {
	return app.RetryOutbox(p.ctx, p.cfg, p.out, c.asked())
}

type discardOutboxCommand struct{ deadMessages }

func (c discardOutboxCommand) Run(p *process) error {
	return app.DiscardOutbox(p.ctx, p.cfg, p.out, c.asked())
}

type healthcheckCommand struct{}

func (healthcheckCommand) Run(p *process) error { return app.Healthcheck(p.ctx, p.cfg) }

type configCommand struct{}

func (configCommand) Run(p *process) error {
	if err := p.cfg.Dump(p.out); err != nil {
		return err
	}
	return p.cfg.Validate()
}

type versionCommand struct{}

func (versionCommand) Run(p *process) error {
	_, err := fmt.Fprintln(p.out, version())
	return err
}

// version is the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return "devel"
}

func main() { os.Exit(run()) }

func run() int {
	var cli commands
	parsed := kong.Parse(&cli, kong.Name("oriel"), kong.Description("Self-hosted event observatory."), kong.UsageOnError(),
		kong.Exit(func(code int) { os.Exit(min(code, 2)) })) // a wrong command line is 2, as usual
	command := parsed.Command()
	serves := command == "config" || command == "serve" // these want all of it, and all mistakes at once
	var warnings []string
	if serves || command == "demo" {
		warnings = config.Unknown(os.Environ())
	}
	cfg, err := config.Read(os.Environ(), os.ReadFile)
	if err != nil && serves {
		err = cfg.AllMistakes(err)
	}
	level, noLevel := telemetry.ParseLevel(cfg.Log.Level)
	if err == nil && noLevel != nil {
		if err = fmt.Errorf("ORIEL_LOG_LEVEL: %w", noLevel); serves {
			err = cfg.Validate()
		}
	}
	if err != nil || command == "config" {
		for _, warning := range warnings {
			fmt.Fprintln(os.Stderr, "oriel: warning:", warning)
		}
		warnings = nil
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "oriel:", err)
		return 2
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		cancel()
		// A second one ends the process at once, also where a shell had it ignored.
		<-signals
		os.Exit(130)
	}()
	log := telemetry.NewLogger(os.Stderr, level)
	slog.SetDefault(log) // for libraries that know no other
	for _, warning := range warnings {
		log.Warn("the environment may be wrong", "detail", warning)
	}
	if err := parsed.Run(&process{ctx: ctx, cfg: cfg, out: os.Stdout, log: log}); err != nil {
		fmt.Fprintln(os.Stderr, "oriel:", err)
		return 1
	}
	return 0
}
