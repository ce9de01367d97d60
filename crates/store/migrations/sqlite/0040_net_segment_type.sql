-- Network segmentation type of a cluster, from the request or a `bind` of the wizard; NULL: the default of its network
-- component.
ALTER TABLE clusters ADD COLUMN net_segment_type TEXT;
