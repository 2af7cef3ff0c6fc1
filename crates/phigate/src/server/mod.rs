//! The edge: accepting connections, limits, routing.
