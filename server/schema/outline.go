package schema

// OUTLINE so that others can build: whoever writes Grant, CheckAudit and CheckReader deletes this file.

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func Grant(ctx context.Context, url, write, read string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, sql := range []string{
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO " + write,
		"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO " + write,
		"REVOKE UPDATE, DELETE ON audit FROM " + write,
		"GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + read,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

func CheckAudit(context.Context, *pgxpool.Pool) error  { return nil }
func CheckReader(context.Context, *pgxpool.Pool) error { return nil }
