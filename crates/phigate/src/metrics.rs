//! Counters and histograms in the Prometheus format.
