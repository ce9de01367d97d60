-- Network segmentation of a cluster, set by a request or a bind; null: that of its network component.
ALTER TABLE clusters ADD COLUMN net_segment_type TEXT COLLATE "C";
