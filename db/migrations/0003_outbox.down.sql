DROP TABLE outbox_relay, outbox_backoff, outbox_shard, outbox;
