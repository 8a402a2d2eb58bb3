DROP TABLE share_link, saved_search, dimension_value, block_gap, event_block;
