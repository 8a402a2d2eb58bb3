package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel/trace"

	"oriel/server/config"
	"oriel/server/consume"
	"oriel/server/facets"
	"oriel/server/fault"
	"oriel/server/httpapi"
	"oriel/server/ingest"
	"oriel/server/kafka"
	"oriel/server/maintain"
	"oriel/server/pipeline"
	"oriel/server/search"
)

func (a *App) addMaintain(cfg config.Config, opts Options, pool *pgxpool.Pool, probe *kgo.Client, log *slog.Logger, reg *prometheus.Registry) {
	m := maintain.New(pool, time.Duration(cfg.Store.Retention), log, reg)
	m.TrimLog = opts.TrimLog // where it is set there is a probe
	m.Log = func(ctx context.Context) (string, [16]byte, error) {
		id, err := kafka.TopicID(ctx, probe, cfg.Kafka.Topic)
		return cfg.Kafka.Topic, id, err
	}
	a.push("maintain", 10*time.Second, m.Stop)
	a.start = append(a.start, m.Start)
}

func (a *App) addConsumer(ctx context.Context, cfg config.Config, fields facets.Config, kopts []kgo.Opt, buried func(), log *slog.Logger, reg *prometheus.Registry) error {
	// A pool of its own: analysts and sign-ins cannot starve the batches.
	pool, err := openPool(ctx, cfg.Database.URL, cfg.Database.MaxConns, "oriel-consume", consume.Session())
	if err != nil {
		return err
	}
	a.push("consume pool", 5*time.Second, closePool(pool))
	kopts = append(slices.Clone(kopts), kgo.SessionTimeout(cfg.Kafka.SessionTimeout), kgo.HeartbeatInterval(cfg.Kafka.SessionTimeout/5))
	c := consume.New(consume.Config{
		Consumer: storeConsumer, Topic: cfg.Kafka.Topic, Group: cfg.Kafka.Group,
		Instance: instance(), Retention: time.Duration(cfg.Store.Retention),
		BreakerRatio: cfg.Store.BreakerRatio, BreakerLetters: cfg.Store.BreakerLetters,
		DeadLetterTopic:  kafka.DeadLetterTopic(cfg.Kafka.Topic),
		DeadLetterSource: strings.TrimSuffix(cfg.HTTP.PublicURL, "/") + "/consumers/" + storeConsumer,
		Buried:           buried, Facets: fields,
	}, pool, kopts, log, reg, func() {})
	a.push("consumers", 15*time.Second, c.Stop)
	a.start = append(a.start, c.Start)
	a.health.Register("consumer_"+storeConsumer, func(context.Context) error {
		if s := c.Status(); !s.Ready() {
			return fault.New(fault.Unavailable, fault.ReasonConsumerNotRunning, strings.TrimSuffix(s.State+": "+s.Detail, ": "))
		}
		return nil
	})
	return nil
}

// monitor reads how the pipeline is doing. Without a probe of the broker nobody says how far the topic goes.
func (a *App) monitor(cfg config.Config, pool *pgxpool.Pool, probe *kgo.Client, log *slog.Logger) *pipeline.Monitor {
	watched := pipeline.Config{Topic: cfg.Kafka.Topic, Consumer: storeConsumer, Readiness: a.health.Readiness}
	if probe != nil {
		watched.Ends = func(ctx context.Context) (id [16]byte, ends map[int32]int64, err error) {
			return kafka.Ends(ctx, probe, cfg.Kafka.Topic)
		}
	}
	return pipeline.New(pool, watched, log)
}

// topicCheck bounds the look at the topic's settings at the start.
const topicCheck = 5 * time.Second

// addBroker asks for the topic with a client of its own, so that readiness never waits behind records,
// and refuses a topic whose settings would break a promise. A broker that does not answer, or does not
// tell, is readiness's to report.
func (a *App) addBroker(ctx context.Context, cfg config.Config, kopts []kgo.Opt) (*kgo.Client, error) {
	client, err := kgo.NewClient(kopts...)
	if err != nil {
		return nil, fmt.Errorf("kafka client: %w", err)
	}
	a.push("broker probe", time.Second, func(context.Context) error { client.Close(); return nil })
	a.health.Register("broker", func(ctx context.Context) error {
		return public(kafka.Ping(ctx, client, cfg.Kafka.Topic), fault.ReasonBrokerUnavailable,
			"The broker does not answer, or the topic cannot be written to.")
	})
	ctx, cancel := context.WithTimeout(ctx, topicCheck)
	defer cancel()
	err = kafka.CheckTopic(ctx, client, cfg.Kafka.Topic)
	if wrong := (*kafka.SettingsError)(nil); errors.As(err, &wrong) {
		return nil, err
	}
	if err != nil {
		a.log.Warn("the settings of the topic were not checked", "topic", cfg.Kafka.Topic, "error", err)
	}
	return client, nil
}

// public gives a failed probe the text that readiness may show.
func public(err error, reason, text string) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(err, fault.Unavailable, reason, text)
}

func (a *App) addPublisher(cfg config.Config, kopts []kgo.Opt, tracer trace.TracerProvider, log *slog.Logger, reg *prometheus.Registry) (*ingest.Publisher, error) {
	p, err := ingest.New(ingest.Config{
		Topic: cfg.Kafka.Topic, Retention: time.Duration(cfg.Store.Retention), Deadline: cfg.HTTP.Deadline,
		Tracer: tracer,
	}, kopts, log, reg)
	if err != nil {
		return nil, fmt.Errorf("publisher: %w", err)
	}
	a.push("producers", 12*time.Second, p.Close)
	return p, nil
}

func (a *App) addHTTP(ctx context.Context, cfg config.Config, opts Options, deps httpapi.Deps) error {
	server, err := httpapi.New(deps)
	if err != nil {
		return err
	}
	if a.listener = opts.Listener; a.listener == nil {
		if a.listener, err = listen(ctx, cfg.HTTP.Addr); err != nil {
			return err
		}
	}
	a.push("http", 15*time.Second, server.Shutdown)
	a.start = append(a.start, func(context.Context) error {
		go func() { a.serveErr <- server.Listen(a.listener) }()
		return nil
	})
	a.push("readiness", time.Second, func(context.Context) error { a.health.SetDraining(); return nil })
	return nil
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("ORIEL_ADDR: %w", err)
	}
	return l, nil
}

func kafkaConfig(cfg config.Config) kafka.Config {
	return kafka.Config{
		Brokers: cfg.Kafka.Brokers, Topic: cfg.Kafka.Topic, Group: cfg.Kafka.Group, Partitions: cfg.Kafka.Partitions,
		TLS: cfg.Kafka.TLS, TLSCAFile: cfg.Kafka.TLSCAFile,
		SASL: cfg.Kafka.SASL, Username: cfg.Kafka.Username, Password: cfg.Kafka.Password,
	}
}

// instance names this process to people who read a checkpoint's owner.
func instance() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// addStandby keeps an eye on how far the standby is behind. It is no reason to be unready: the primary answers what
// the standby cannot.
func (a *App) addStandby(searches *search.Service, log *slog.Logger) {
	well := true
	a.health.Register("standby", func(ctx context.Context) error {
		err := searches.ObserveStandby(ctx)
		if well != (err == nil) {
			if well = err == nil; well {
				log.Info("the standby answers again")
			} else {
				log.Warn("the standby does not answer; the primary answers searches", "error", err)
			}
		}
		return nil
	})
}
