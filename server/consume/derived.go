package consume

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"oriel/server/db"

	"github.com/jackc/pgx/v5"
)

// derived is by which configuration of facets and severity this consumer derives: each row says so. Replicas may
// differ, as they do while an installation is being reconfigured; every row is right by its own.
type derived struct {
	version int16
	used    time.Time // when the database was last told
	told    []int16   // versions of others that were reported
}

// useEvery is how often a consumer says which configuration it uses.
const useEvery = 5 * time.Minute

// builtInFacets is the version of the rows that are derived without any settings.
const builtInFacets = 1

// useFacets finds the version of the configuration, or makes one, before the first row that carries it.
func (c *Consumer) useFacets(ctx context.Context) error {
	config, made := c.cfg.Facets.String(), false
	err := pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		q := c.queries.WithTx(tx)
		if err := q.LockFacetVersions(ctx); err != nil {
			return err
		}
		version, err := q.UseFacetVersion(ctx, config)
		if made = errors.Is(err, pgx.ErrNoRows); made {
			version, err = q.AddFacetVersion(ctx, db.AddFacetVersionParams{
				Config: config, Fields: c.cfg.Facets.Names(), Counted: c.cfg.Facets.Counted(),
			})
		}
		c.derived.version = version
		return err
	})
	if err != nil {
		return fmt.Errorf("record the configuration of facets: %w", err)
	}
	c.derived.used = time.Now()
	if made {
		c.log.Info("events are derived by a new configuration; those that are stored keep their facets and severity",
			"version", c.derived.version, "facets", config)
	}
	uncounted, err := c.queries.UncountedFacets(ctx)
	if err != nil {
		return fmt.Errorf("read which facets were not counted: %w", err)
	}
	for _, name := range c.cfg.Facets.Counted() {
		if slices.Contains(uncounted, name) {
			c.log.Warn("a facet field is to be counted that events were stored with uncounted: searches will not use its counts; give it another name",
				"facet", name)
		}
	}
	return nil
}

// watchFacets says now and then that the configuration is in use, and reports others that are.
func (c *Consumer) watchFacets(ctx context.Context) error {
	if time.Since(c.derived.used) < useEvery {
		return nil
	}
	if _, err := c.queries.UseFacetVersion(ctx, c.cfg.Facets.String()); err != nil {
		return fmt.Errorf("say which configuration of facets is in use: %w", err)
	}
	// One that was used before ours began may have ended.
	others, err := c.queries.OtherFacetVersions(ctx, db.OtherFacetVersionsParams{
		Version: c.derived.version, Seconds: time.Since(c.derived.used).Seconds(),
	})
	if err != nil {
		return fmt.Errorf("read which configurations of facets are in use: %w", err)
	}
	c.derived.used = time.Now()
	for _, o := range others {
		if !slices.Contains(c.derived.told, o.Version) {
			c.derived.told = append(c.derived.told, o.Version)
			c.log.Warn("another consumer derives by another configuration of facets or severity",
				"version", c.derived.version, "facets", c.cfg.Facets.String(), "other_version", o.Version, "other_facets", o.Config)
		}
	}
	return nil
}
