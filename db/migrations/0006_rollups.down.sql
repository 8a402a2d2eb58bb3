DELETE FROM rollup_quarter WHERE dimension = 'severity' OR value = '' AND dimension NOT IN ('type', 'source');
DELETE FROM rollup_hour WHERE value = '' AND dimension NOT IN ('type', 'source');
ALTER TABLE rollup_hour DROP CONSTRAINT rollup_hour_pkey, ADD PRIMARY KEY (bucket, dimension, value);
ALTER TABLE rollup_quarter DROP CONSTRAINT rollup_quarter_pkey, ADD PRIMARY KEY (bucket, log, partition, dimension, value);
DROP TABLE rollup_day;
DROP FUNCTION event_dimensions;
