package maintain

import (
	"context"
	"fmt"
)

// linksAtOnce is how many share links one statement drops.
const linksAtOnce = 5000

// dropLinks removes share links that nobody has opened for a year.
func (m *Maintainer) dropLinks(ctx context.Context) error {
	for {
		n, err := m.queries.DropUnusedShareLinks(ctx, linksAtOnce)
		if err != nil {
			return fmt.Errorf("drop share links: %w", err)
		}
		if n > 0 {
			m.log.Info("share links that nobody opened for a year are dropped", "links", n)
		}
		if n < linksAtOnce {
			return nil
		}
	}
}
