"""What a page draws of a profile beyond the report: trees, tables, threads, timeline, roofline and source, all of a bounded size."""
