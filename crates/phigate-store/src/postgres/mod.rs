//! PostgreSQL: the engine for several replicas.
