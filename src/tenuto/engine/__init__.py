"""The only place that owns tasks: it accepts, drives, records, settles and shows runs."""
